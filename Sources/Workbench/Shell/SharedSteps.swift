/// What several lists of steps have in common, as a scenario says it: shared steps, and for each list
/// what it sets differently and what it does before or after.
struct SharedSteps {
  /// What one list has of its own.
  struct Difference {
    var set: [Setting] = []
    var first: [Step] = []
    var then: [Step] = []
  }

  private(set) var steps: [Step]
  /// One for each list, in the order of the lists.
  private(set) var differences: [Difference]

  /// - Parameter lists: at least one.
  init(_ lists: [[Step]]) {
    let shortest = lists.map(\.count).min() ?? 0
    let front = SharedSteps.alike(lists, upTo: shortest) { list, index in list[index] }
    let back = SharedSteps.alike(lists, upTo: shortest) { list, index in
      list[list.count - 1 - index]
    }
    let count = max(front, back)
    let isFront = front >= back
    let parts = lists.map { isFront ? $0.prefix(count) : $0.suffix(count) }.map(Array.init)
    steps = (parts.first ?? []).indices.map { index in
      SharedSteps.common(parts.map { $0[index] })
    }
    differences = lists.map { list in
      isFront
        ? Difference(then: Array(list.dropFirst(count)))
        : Difference(first: Array(list.dropLast(count)))
    }
    for (place, part) in parts.enumerated() {
      for (shared, own) in zip(steps, part) {
        differences[place].set += SharedSteps.settings(from: shared, to: own)
      }
    }
  }

  /// How many steps, counted by `step`, are alike in all lists.
  private static func alike(
    _ lists: [[Step]], upTo limit: Int, step: ([Step], Int) -> Step
  ) -> Int {
    guard let first = lists.first else { return 0 }
    var names = Set<String>()
    for index in 0..<limit {
      let model = step(first, index)
      let others = lists.dropFirst().map { step($0, index) }
      if others.allSatisfy({ $0 == model }) {
        if let name = model.name { names.insert(name) }
        continue
      }
      // A name that several steps have cannot be set for one of them.
      guard others.allSatisfy({ isSettable(model, $0) }), let name = model.name,
        names.insert(name).inserted,
        lists.allSatisfy({ list in list.count { $0.name == name } == 1 })
      else { return index }
    }
    return limit
  }

  /// Whether two steps differ in options alone, which a variant can set by the step's name.
  private static func isSettable(_ one: Step, _ other: Step) -> Bool {
    one.name != nil && one.verb == other.verb && one.subject == other.subject
      && one.name == other.name && one.reads == other.reads && one.fails == other.fails
  }

  /// The step with the options that all have; a variant cannot take an option away.
  private static func common(_ steps: [Step]) -> Step {
    var common = steps[0]
    common.options.removeAll { option in !steps.allSatisfy { $0.options.contains(option) } }
    return common
  }

  private static func settings(from shared: Step, to own: Step) -> [Setting] {
    guard let name = own.name else { return [] }
    return own.options.filter { !shared.options.contains($0) }
      .map { Setting(target: name, option: $0, words: []) }
  }
}
