/// The counts that are stored with the sources, and the libraries that they were measured with.
struct Baselines: Codable {
  let libraries: Libraries
  let workloads: [WorkloadCounts]

  /// The versions that allocations and instructions depend on, other than this project's code.
  struct Libraries: Codable, Equatable {
    let sqlite: String
    let swift: String
    /// The distribution, which provides the C library.
    let system: String

    /// The versions on this machine.
    static var present: Libraries {
      let machine = Machine(rows: 0, rounds: 0)
      return Libraries(sqlite: machine.sqlite, swift: machine.swift, system: machine.system)
    }
  }
}
