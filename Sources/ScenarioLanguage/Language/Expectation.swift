import OpenCoreData
package import ProfileEvents
package import WorkbenchText

/// That a metric obeys a formula.
package struct Expectation: Sendable, Equatable {
  /// As written.
  package var metric: MetricReference
  /// As understood: what the brackets name is known.
  package var scoped: ScopedMetric
  package var law: CountConstraint
  package var source: SourceMark
  /// The line it is written on.
  package var line: Int

  package init(
    metric: MetricReference, scoped: ScopedMetric, law: CountConstraint, source: SourceMark,
    line: Int
  ) {
    self.metric = metric
    self.scoped = scoped
    self.law = law
    self.source = source
    self.line = line
  }

  package static func == (first: Expectation, second: Expectation) -> Bool {
    first.scoped == second.scoped && first.law == second.law && first.source == second.source
  }
}

/// What a variant or a step must have cost.
package struct ExpectBlock: Sendable, Equatable {
  /// The findings that must fire, neither more nor fewer.
  package struct Findings: Sendable, Equatable {
    package var names: [FindingName]
    package var source: SourceMark
    /// The line they are written on.
    package var line: Int

    package init(names: [FindingName], source: SourceMark, line: Int) {
      self.names = names
      self.source = source
      self.line = line
    }

    package static func == (first: Findings, second: Findings) -> Bool {
      Set(first.names) == Set(second.names) && first.source == second.source
    }
  }

  /// In the order of writing.
  package var expectations: [Expectation]
  /// What query plans must be, in the order of writing.
  package var plans: [PlanExpectation] = []
  /// Nil when nothing is written, which says that none may fire.
  package var findings: Findings?
  /// The line of the block.
  package var line: Int

  package init(expectations: [Expectation] = [], findings: Findings? = nil, line: Int) {
    self.expectations = expectations
    self.findings = findings
    self.line = line
  }

  /// Whether it asks how long the store's files are, which no event contains.
  package var wantsPages: Bool {
    expectations.contains { [.filepages, .walpages, .freepages].contains($0.scoped.metric) }
  }

  package static func == (first: ExpectBlock, second: ExpectBlock) -> Bool {
    first.expectations == second.expectations && first.plans == second.plans
      && first.findings == second.findings
  }
}

/// A metric as it is written, with its scope in brackets: `selects`, `misses(Country)`.
package struct MetricReference: Sendable, Hashable {
  package let metric: Metric
  /// What stands in the brackets: an entity, `Entity.relationship` or a step's name.
  package let scope: Word?
  /// The whole of it.
  package let place: SourceRange

  /// Reads a metric.
  ///
  /// - Throws: a problem when the word isn't a metric, takes no scope, or can be no expectation because
  ///   two runs give two numbers.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    let opening = characters.firstIndex(of: "(") ?? characters.count
    let name = String(characters[..<opening])
    let namePlace = word.place(at: 0, length: opening)
    guard let metric = Metric(rawValue: name) else {
      let known = Metric.allCases.filter(\.isExact).map(\.rawValue)
      throw LanguageProblem(
        "unknown metric `\(name)`", at: namePlace, didYouMean: NearestName.of(name, among: known),
        nextStep: "the metrics are: \(known.joined(separator: ", "))")
    }
    guard metric.isExact else {
      throw LanguageProblem(
        "`\(name)` varies between runs, so it can't be expected", at: namePlace,
        nextStep: "expect a count; the report shows times")
    }
    self.metric = metric
    self.place = word.place
    guard opening < characters.count else {
      scope = nil
      return
    }
    guard characters.last == ")", opening + 2 < characters.count else {
      throw LanguageProblem(
        "a scope is written in parentheses, as in `\(name)(Country)`", at: word.place,
        nextStep: "write `\(name)` without it, or close the parenthesis")
    }
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    scope = Word(inner, at: word.place(at: opening + 1, length: inner.count))
  }

  package static func == (first: MetricReference, second: MetricReference) -> Bool {
    first.metric == second.metric && first.scope?.text == second.scope?.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(metric)
    hasher.combine(scope?.text)
  }

  /// As written, without blanks.
  package var text: String {
    scope.map { "\(metric.rawValue)(\($0.text))" } ?? metric.rawValue
  }
}

/// That the plans of SELECTs obey a demand: `plan(moods): uses byDate`.
package struct PlanExpectation: Sendable, Equatable {
  /// The word that precedes the parentheses.
  package static let word = "plan"

  /// The step whose SELECTs are meant; nil for all of the variant, or of the step that expects it.
  package var step: String?
  package var demand: PlanRequirement
  package var source: SourceMark
  /// The line it is written on.
  package var line: Int
  /// Where its demand is written.
  package var place: SourceRange?

  package init(
    step: String?, demand: PlanRequirement, source: SourceMark, line: Int, place: SourceRange? = nil
  ) {
    self.step = step
    self.demand = demand
    self.source = source
    self.line = line
    self.place = place
  }

  package static func == (first: PlanExpectation, second: PlanExpectation) -> Bool {
    first.step == second.step && first.demand == second.demand && first.source == second.source
  }

  /// As written, without blanks.
  package var text: String { step.map { "\(Self.word)(\($0))" } ?? Self.word }

  /// The step that a key names; nil for `plan` alone.
  ///
  /// - Throws: a problem when the bracket is not closed or is empty.
  static func step(of key: Word) throws(LanguageProblem) -> Word? {
    let characters = Array(key.text)
    guard characters.count > word.count else { return nil }
    guard characters.last == ")", characters.count > word.count + 2 else {
      throw LanguageProblem(
        "a step's name is written in parentheses, as in `plan(moods)`", at: key.place,
        nextStep: "write `plan` without it, or close the parenthesis")
    }
    let inner = String(characters[(word.count + 1)..<(characters.count - 1)])
    return Word(inner, at: key.place(at: word.count + 1, length: inner.count))
  }

  /// Whether a key of `expect` is about plans.
  static func isKey(_ text: String) -> Bool {
    text == word || text.hasPrefix("\(word)(")
  }
}

/// What a query plan must be: `uses byDate`, `avoids scan`, `avoids temp b-tree`.
package enum PlanRequirement: Sendable, Hashable, CustomStringConvertible {
  /// Some table is read through the index of this name, which is a fetch index's or SQL's own.
  case uses(String)
  /// Some table is searched by its primary key.
  case usesPrimaryKey
  /// SQLite makes an index for the statement alone.
  case usesAutomaticIndex
  /// No stored table or index is read as a whole.
  case avoidsScan
  /// Nothing is sorted or told apart outside an index.
  case avoidsTempBTree

  /// The forms there are, for errors and the documentation.
  static let forms = [
    "uses NAME", "uses primary key", "uses automatic index", "avoids scan", "avoids temp b-tree",
  ]

  /// Reads a demand.
  ///
  /// - Throws: a problem at the text when it is none.
  init(_ word: Word) throws(LanguageProblem) {
    let words = word.text.split(separator: " ").map(String.init)
    switch (words.first, words.dropFirst().joined(separator: " ")) {
    case ("uses", "primary key"): self = .usesPrimaryKey
    case ("uses", "automatic index"): self = .usesAutomaticIndex
    case ("uses", let name) where words.count == 2: self = .uses(name)
    case ("avoids", "scan"): self = .avoidsScan
    case ("avoids", "temp b-tree"): self = .avoidsTempBTree
    default:
      throw LanguageProblem(
        "`\(word.text)` isn't a plan requirement", at: word.place,
        didYouMean: NearestName.of(word.text, among: PlanRequirement.forms),
        nextStep: "write one of: \(PlanRequirement.forms.joined(separator: ", "))")
    }
  }

  package var description: String {
    switch self {
    case .uses(let name): "uses \(name)"
    case .usesPrimaryKey: "uses primary key"
    case .usesAutomaticIndex: "uses automatic index"
    case .avoidsScan: "avoids scan"
    case .avoidsTempBTree: "avoids temp b-tree"
    }
  }
}

/// A finding as an expectation names it: `fault-storm(Mood)`, `fault-storm(Mood.country)`.
package struct FindingName: Sendable, Hashable {
  /// `fault-storm`.
  package let rule: Word
  /// What it was found on: an entity or `Entity.relationship`.
  package let subject: Word

  /// Reads a finding's name; whether rule and subject exist is for others to say.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    guard let opening = characters.firstIndex(of: "("), opening > 0, characters.last == ")",
      opening + 2 < characters.count
    else {
      throw LanguageProblem(
        "a finding is written `RULE(SUBJECT)`", at: word.place,
        nextStep: "write for example `fault-storm(Mood)`")
    }
    rule = Word(
      String(characters[..<opening]), at: word.place(at: 0, length: opening))
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    subject = Word(inner, at: word.place(at: opening + 1, length: inner.count))
  }

  package static func == (first: FindingName, second: FindingName) -> Bool {
    first.text == second.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }

  /// As written, without blanks.
  package var text: String { "\(rule.text)(\(subject.text))" }
}
