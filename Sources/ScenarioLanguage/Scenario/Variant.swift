/// One way of doing a scenario's work: what differs from the shared steps, and what it must cost.
package struct Variant: Sendable {
  package var name: String
  /// One sentence for the report.
  package var why: String
  package var set: [Setting]
  /// Steps before the shared ones.
  package var first: [Step]
  /// Steps after the shared ones.
  package var then: [Step]
  package var expect: ExpectBlock
  /// The line it begins on.
  package var line: Int

  package init(
    name: String, why: String = "", set: [Setting] = [], first: [Step] = [], then: [Step] = [],
    expect: ExpectBlock, line: Int
  ) {
    self.name = name
    self.why = why
    self.set = set
    self.first = first
    self.then = then
    self.expect = expect
    self.line = line
  }

  /// Its steps in the order in which they run: `first`, the shared ones as it changes them, `then`.
  package func steps(sharing shared: [Step]) -> [Step] {
    let changed = shared.map { step in
      set.reduce(into: step) { step, setting in
        if step.label == setting.target {
          step.setOption(setting.option, words: setting.words)
        }
      }
    }
    return first + changed + then
  }
}
