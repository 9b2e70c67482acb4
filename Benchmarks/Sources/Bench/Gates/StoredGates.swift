/// The counts that are kept with the sources, and what they were counted with.
struct StoredGates: Codable {
  let libraries: Libraries
  let gates: [Gate]

  /// What blocks and instructions depend on besides our own code.
  struct Libraries: Codable, Equatable {
    let sqlite: String
    let swift: String
    /// The distribution, which brings the C library.
    let system: String

    /// Those of this machine.
    static var present: Libraries {
      let machine = Machine(rows: 0, rounds: 0)
      return Libraries(sqlite: machine.sqlite, swift: machine.swift, system: machine.system)
    }
  }
}
