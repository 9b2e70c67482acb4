package import ManagedModel
package import ProfileEvents
package import WorkbenchText

/// A validated scenario: data, shared steps, and variants that specify only their differences.
package struct Scenario: Sendable {
  /// The name of reports of a scenario that is read from standard input.
  package static let standardInputName = "stdin"

  /// The keys of a file, in their order.
  package static let keys = [
    "name", "chapter", "covers", "source", "apple", "story", "headline", "metric", "predict",
    "exercise", "model", "data", "steps", "variants", "expect", "silence",
  ]

  package var name: String
  package var file: URL
  /// The path of the file as it was given, which is the file of every call site.
  package var path: String
  /// The contents of the file.
  package var text = ""
  package var chapter: Int?
  package var covers: [CatalogReference]
  package var story: String
  /// The author's sentence about the result, or `nil` for one that reports generate.
  package var headline: Headline?
  /// The metric that reports show with bars, or `nil` for the one in which the variants differ
  /// most.
  package var metric: ScopedMetric?
  /// The questions that the page asks before it shows the result.
  package var predictions: [Prediction] = []
  /// The task for the reader, or `nil` if there's none.
  package var exercise: Exercise?
  /// The model's name or path as written, or `nil` if the model is read from a copied store.
  package var modelName: String?
  package var modelURL: URL?
  package var model: NSManagedObjectModel
  /// The versions of the model, or `nil` if it has none.
  package var versions: VersionedModel?
  package var data: DataPlan
  /// The steps that all variants share.
  package var steps: [Step]
  /// The variants, at least one.
  package var variants: [Variant]
  /// The suppressed findings.
  package var silence: [FindingSuppression] = []

  /// Creates a scenario without a lesson, versions, or suppressed findings.
  package init(
    name: String, file: URL, path: String, chapter: Int?, covers: [CatalogReference],
    story: String, modelName: String?, modelURL: URL?, model: NSManagedObjectModel,
    data: DataPlan, steps: [Step], variants: [Variant]
  ) {
    self.name = name
    self.file = file
    self.path = path
    self.chapter = chapter
    self.covers = covers
    self.story = story
    self.modelName = modelName
    self.modelURL = modelURL
    self.model = model
    self.data = data
    self.steps = steps
    self.variants = variants
  }

  /// Returns the lines of a file, without their ends.
  ///
  /// A line ends where one ends in YAML: at a line feed, a carriage return, both, or one of
  /// Unicode's other ends of lines and paragraphs.
  package static func lines(of text: String) -> [String] {
    // A carriage return with a line feed is one character.
    text.split(omittingEmptySubsequences: false) { character in
      switch character {
      case "\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}": true
      default: false
      }
    }
    .map(String.init)
  }

  /// The model of the data: the version that `data` specifies, or else the model itself.
  package var dataModel: NSManagedObjectModel {
    data.version.flatMap { versions?.version($0)?.model } ?? model
  }

  /// The expectations of all variants and steps, and those of the exercise.
  package var expectations: [Expectation] {
    let steps = self.steps + variants.flatMap { $0.first + $0.then }
    return variants.flatMap(\.expect.expectations) + (exercise?.budget.expectations ?? [])
      + steps.flatMap { $0.expect?.expectations ?? [] }
  }

  /// The metrics that expectations, `metric`, `headline`, and `predict` name.
  package var namedMetrics: Set<ScopedMetric> {
    Set(
      expectations.map(\.scoped) + (headline?.metrics ?? []) + (metric.map { [$0] } ?? [])
        + predictions.compactMap(\.metric))
  }

  /// A name for output files: the scenario file's name without its extension, or `stdin` for
  /// standard input.
  package var fileName: String {
    path == InputFile.standardInput
      ? Scenario.standardInputName : file.deletingPathExtension().lastPathComponent
  }
}

/// A variant of a scenario: its differences from the shared steps, and its expectations.
package struct Variant: Sendable {
  package var name: String
  /// One sentence for the report, which explains the variant's counts.
  package var why: String
  /// What Core Data does on Apple platforms where an expectation's source is `ours`; empty if that
  /// wasn't checked.
  package var apple = ""
  package var set: [Setting]
  /// Steps before the shared ones.
  package var first: [Step]
  /// Steps after the shared ones.
  package var then: [Step]
  package var expect: ExpectBlock
  /// The line number of the variant.
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

  /// Returns the variant's steps in execution order: `first`, the shared steps with the variant's
  /// settings, and `then`.
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

/// A variant's change to a shared step, such as `moods.values: no`.
package struct Setting: Sendable {
  /// The name of the step.
  package var target: String
  package var option: StepOption
  /// The words of the value, for errors.
  package var words: [Word]

  package init(target: String, option: StepOption, words: [Word]) {
    self.target = target
    self.option = option
    self.words = words
  }

  /// The setting as a report prints it, such as `moods.values: no`.
  package var text: String {
    "\(target).\(option.word.rawValue): \(option.value.text)"
  }
}

/// A finding that a scenario suppresses.
///
/// `fault-storm` suppresses a rule for all subjects, and `fault-storm(Mood.country)` for one
/// subject.
package struct FindingSuppression: Sendable, Hashable {
  /// The rule ID, such as `fault-storm`.
  package var rule: String
  /// The subject, such as `Mood.country`, or `nil` for all subjects.
  package var subject: String?

  package init(rule: String, subject: String? = nil) {
    self.rule = rule
    self.subject = subject
  }
}

/// A run in the shell: the steps between two resets, with their counts and findings.
package struct RecordedRun: Sendable {
  /// The steps that succeeded, in execution order.
  package var steps: [Step]
  package var counters: Counters
  /// The names of the findings that fired, without duplicates.
  package var findings: [String]

  package init(steps: [Step], counters: Counters, findings: [String]) {
    self.steps = steps
    self.counters = counters
    self.findings = findings
  }

  /// Expectations that the measured counts meet, as YAML pairs.
  package var expectations: [String] {
    let findings =
      findings.isEmpty
      ? "hits: \(counters.hits)" : "findings: [\(findings.joined(separator: ", "))]"
    return [
      "selects: \(counters.selects)", "faults: \(counters.faults)", "misses: \(counters.misses)",
      findings,
    ]
  }
}
