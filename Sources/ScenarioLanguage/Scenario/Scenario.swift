package import OpenCoreData
package import ProfileEvents
package import WorkbenchText

/// A scenario file, read and checked: data, shared steps, and variants that say only their difference.
package struct Scenario: Sendable {
  package var name: String
  package var file: URL
  /// The file as it was given; the file of every call site.
  package var path: String
  /// The whole file.
  package var text = ""
  package var chapter: Int?
  package var covers: [CatalogReference]
  package var story: String
  /// As written: a name or a path; nil when the model comes out of a copied store.
  package var modelName: String?
  package var modelURL: URL?
  package var model: NSManagedObjectModel
  package var data: DataPlan
  /// The steps all variants share.
  package var steps: [Step]
  /// At least one.
  package var variants: [Variant]
  /// Findings that the writer knows of; they do not fire.
  package var silence: [FindingSuppression] = []

  /// The expectations of all variants and of all steps.
  package var expectations: [Expectation] {
    let steps = self.steps + variants.flatMap { $0.first + $0.then }
    return variants.flatMap(\.expect.expectations)
      + steps.flatMap { $0.expect?.expectations ?? [] }
  }

  /// A name for files: the scenario file's own, without its extension; `stdin` for standard input.
  package var fileName: String {
    path == InputFile.standardInput
      ? ScenarioFinder.standardInputName : file.deletingPathExtension().lastPathComponent
  }
}

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

/// A variant's change of a shared step: `moods.values: no`.
package struct Setting: Sendable {
  /// The name of the step.
  package var target: String
  package var option: StepOption
  /// The words of the value, for carets.
  package var words: [Word]

  package init(target: String, option: StepOption, words: [Word]) {
    self.target = target
    self.option = option
    self.words = words
  }

  /// As a report prints it: `moods.values: no`.
  package var text: String {
    "\(target).\(option.word.rawValue): \(option.value.text)"
  }
}

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
      settings[index] += own.map { "\(step.name ?? "").\($0.word.rawValue): \($0.value.yaml)" }
    }
  }
}

/// A finding that the writer of a scenario knows of and does not want to hear about.
///
/// `fault-storm` silences a rule everywhere, `fault-storm(Mood.country)` on one subject.
package struct FindingSuppression: Sendable, Hashable {
  /// `fault-storm`.
  package var rule: String
  /// `Mood.country`; nil for every subject.
  package var subject: String?

  package init(rule: String, subject: String? = nil) {
    self.rule = rule
    self.subject = subject
  }
}

/// What was done between two resets of a shell, and what it cost.
package struct RecordedRun: Sendable {
  /// The steps that went well, in their order.
  package var steps: [Step]
  package var counters: Counters
  /// The names of the findings that fired, each once.
  package var findings: [String]

  package init(steps: [Step], counters: Counters, findings: [String]) {
    self.steps = steps
    self.counters = counters
    self.findings = findings
  }

  /// The expectations that hold for what was measured, as YAML pairs.
  var expectations: [String] {
    let findings =
      findings.isEmpty
      ? "hits: \(counters.hits)" : "findings: [\(findings.joined(separator: ", "))]"
    return [
      "selects: \(counters.selects)", "faults: \(counters.faults)", "misses: \(counters.misses)",
      findings,
    ]
  }
}
