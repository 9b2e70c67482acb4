/// Finds what several lists of steps share, so that variants say only their difference.
struct SharedSteps {
  /// The steps all of them have.
  private(set) var steps: [Step] = []
  /// For each list: the steps it has before the shared ones.
  private(set) var first: [[Step]]
  /// For each list: the options it gives to shared steps, as YAML pairs.
  private(set) var settings: [[String]]

  init(_ lists: [[Step]]) {
    first = lists.map { _ in [] }
    settings = first.map { _ in [] }
    guard let model = lists.first else { return }
    if lists.allSatisfy({ SharedSteps.areAlike($0, model) }) {
      for index in model.indices {
        share(lists.map { $0[index] })
      }
      return
    }
    let shortest = lists.map(\.count).min() ?? 0
    let common =
      (0..<shortest).first { offset in
        lists.contains { $0[$0.count - 1 - offset] != model[model.count - 1 - offset] }
      } ?? shortest
    steps = model.suffix(common)
    first = lists.map { $0.dropLast(common) }
  }

  /// Whether two lists differ in the options of named steps alone.
  private static func areAlike(_ one: [Step], _ other: [Step]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).allSatisfy { first, second in
      var bare = (first, second)
      bare.0.options = []
      bare.1.options = []
      let isNamedAlone = first.name != nil && one.count { $0.name == first.name } == 1
      return bare.0 == bare.1 && (isNamedAlone || first.options == second.options)
    }
  }

  private mutating func share(_ alike: [Step]) {
    var shared = alike[0]
    shared.options.removeAll { option in alike.contains { !$0.options.contains(option) } }
    steps.append(shared)
    for (index, step) in alike.enumerated() {
      let own = step.options.filter { !shared.options.contains($0) }
      settings[index] += own.map { "\(step.name ?? "").\($0.word.rawValue): \($0.yaml)" }
    }
  }
}
