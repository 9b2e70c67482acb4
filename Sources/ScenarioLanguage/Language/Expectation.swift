import ManagedModel
package import ProfileEvents
package import WorkbenchText

/// A metric and the formula that it must satisfy.
package struct Expectation: Sendable, Equatable {
  /// The metric as written.
  package var metric: MetricReference
  /// The metric with its scope resolved.
  package var scoped: ScopedMetric
  package var constraint: CountConstraint
  package var source: SourceMark
  /// The line number in the source file.
  package var line: Int

  package init(
    metric: MetricReference, scoped: ScopedMetric, constraint: CountConstraint, source: SourceMark,
    line: Int
  ) {
    self.metric = metric
    self.scoped = scoped
    self.constraint = constraint
    self.source = source
    self.line = line
  }

  package static func == (first: Expectation, second: Expectation) -> Bool {
    first.scoped == second.scoped && first.constraint == second.constraint
      && first.source == second.source
  }
}

/// The `expect` block of a variant or a step.
package struct ExpectBlock: Sendable, Equatable {
  /// The findings that must fire, and no others.
  package struct Findings: Sendable, Equatable {
    package var names: [FindingName]
    package var source: SourceMark
    /// The line number in the source file.
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

  /// The expectations for metrics, in source order.
  package var expectations: [Expectation] = []
  /// The expectations for query plans, in source order.
  package var plans: [PlanExpectation] = []
  /// The expected findings, or `nil` if the block doesn't list any.
  ///
  /// No finding may fire then.
  package var findings: Findings?
  /// The line number of the block.
  package var line: Int

  package init(line: Int) {
    self.line = line
  }

  /// Whether an expectation requires the page counts of the store's files.
  ///
  /// Recorded events don't contain page counts.
  package var wantsPages: Bool {
    expectations.contains { [.filepages, .walpages, .freepages].contains($0.scoped.metric) }
  }

  package static func == (first: ExpectBlock, second: ExpectBlock) -> Bool {
    first.expectations == second.expectations && first.plans == second.plans
      && first.findings == second.findings
  }
}

/// A metric as written, with an optional scope in parentheses: `selects`, `misses(Country)`.
package struct MetricReference: Sendable, Hashable {
  package let metric: Metric
  /// The text in parentheses: an entity, `Entity.relationship`, or a step's name.
  package let scope: Word?
  /// The source range of the metric and its scope.
  package let range: SourceRange

  /// Parses a metric.
  ///
  /// - Throws: A problem if the metric is unknown, if it varies between runs and therefore can't be
  ///   expected, or if the parentheses are malformed.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    let opening = characters.firstIndex(of: "(") ?? characters.count
    let name = String(characters[..<opening])
    let nameRange = word.range(at: 0, length: opening)
    guard let metric = Metric(rawValue: name) else {
      let known = Metric.allCases.filter(\.isExact).map(\.rawValue)
      throw LanguageProblem(
        "unknown metric `\(name)`", at: nameRange, didYouMean: NearestName.of(name, among: known),
        nextStep: "the metrics are: \(known.joined(separator: ", "))")
    }
    guard metric.isExact else {
      throw LanguageProblem(
        "`\(name)` varies between runs, so it can't be expected", at: nameRange,
        nextStep: "expect a count; the report shows times")
    }
    self.metric = metric
    self.range = word.range
    guard opening < characters.count else {
      scope = nil
      return
    }
    guard characters.last == ")", opening + 2 < characters.count else {
      throw LanguageProblem(
        "a scope requires parentheses, as in `\(name)(Country)`", at: word.range,
        nextStep: "write `\(name)` without a scope, or close the parenthesis")
    }
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    scope = Word(inner, at: word.range(at: opening + 1, length: inner.count))
  }

  package static func == (first: MetricReference, second: MetricReference) -> Bool {
    first.metric == second.metric && first.scope?.text == second.scope?.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(metric)
    hasher.combine(scope?.text)
  }

  /// The metric as written, without spaces.
  package var text: String {
    scope.map { "\(metric.rawValue)(\($0.text))" } ?? metric.rawValue
  }
}

/// A requirement for the query plans of SELECTs, such as `plan(moods): uses byDate`.
package struct PlanExpectation: Sendable, Equatable {
  /// The keyword of a plan expectation, before the parentheses.
  package static let word = "plan"

  /// The name of the step whose SELECTs the requirement applies to.
  ///
  /// If `nil`, the requirement applies to all SELECTs of the variant, or of the step that contains
  /// the `expect` block.
  package var step: String?
  package var requirement: PlanRequirement
  package var source: SourceMark
  /// The line number in the source file.
  package var line: Int
  /// The source range of the requirement.
  package var range: SourceRange?

  package init(
    step: String?, requirement: PlanRequirement, source: SourceMark, line: Int,
    range: SourceRange? = nil
  ) {
    self.step = step
    self.requirement = requirement
    self.source = source
    self.line = line
    self.range = range
  }

  package static func == (first: PlanExpectation, second: PlanExpectation) -> Bool {
    first.step == second.step && first.requirement == second.requirement
      && first.source == second.source
  }

  /// The key as written, without spaces.
  package var text: String { step.map { "\(Self.word)(\($0))" } ?? Self.word }

  /// Returns the step name in a key, or `nil` if the key is `plan` without parentheses.
  ///
  /// - Throws: A problem if the parenthesis isn't closed or the parentheses are empty.
  package static func step(of key: Word) throws(LanguageProblem) -> Word? {
    let characters = Array(key.text)
    guard characters.count > word.count else { return nil }
    guard characters.last == ")", characters.count > word.count + 2 else {
      throw LanguageProblem(
        "a step's name requires parentheses, as in `plan(moods)`", at: key.range,
        nextStep: "write `plan` without a name, or close the parenthesis")
    }
    let inner = String(characters[(word.count + 1)..<(characters.count - 1)])
    return Word(inner, at: key.range(at: word.count + 1, length: inner.count))
  }

  /// Returns whether a key of `expect` is a plan expectation.
  package static func isKey(_ text: String) -> Bool {
    text == word || text.hasPrefix("\(word)(")
  }
}

/// A requirement for a query plan, such as `uses byDate`, `avoids scan`, or `avoids temp b-tree`.
package enum PlanRequirement: Sendable, Hashable, CustomStringConvertible {
  /// A table is read using the index of this name: a fetch index or an index created with SQL.
  case uses(String)
  /// A table is searched by its primary key.
  case usesPrimaryKey
  /// SQLite builds an automatic index for the statement.
  case usesAutomaticIndex
  /// There's no full table scan or full index scan of a stored table or index.
  case avoidsScan
  /// SQLite doesn't use a temp B-tree to sort or to remove duplicates.
  case avoidsTempBTree

  /// The valid forms, for errors and the documentation.
  package static let forms = [
    "uses NAME", "uses primary key", "uses automatic index", "avoids scan", "avoids temp b-tree",
  ]

  /// Parses a requirement.
  ///
  /// - Throws: A problem at the word if it isn't a plan requirement.
  package init(_ word: Word) throws(LanguageProblem) {
    let words = word.text.split(separator: " ").map(String.init)
    switch (words.first, words.dropFirst().joined(separator: " ")) {
    case ("uses", "primary key"): self = .usesPrimaryKey
    case ("uses", "automatic index"): self = .usesAutomaticIndex
    case ("uses", let name) where words.count == 2: self = .uses(name)
    case ("avoids", "scan"): self = .avoidsScan
    case ("avoids", "temp b-tree"): self = .avoidsTempBTree
    default:
      throw LanguageProblem(
        "`\(word.text)` isn't a plan requirement", at: word.range,
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

/// A metric with its scope, such as `misses(Country)`.
///
/// Scenarios, shell lines, and reports use the same notation.
package struct ScopedMetric: Hashable, Sendable, CustomStringConvertible {
  package var metric: Metric
  package var scope: MetricScope

  package init(_ metric: Metric, _ scope: MetricScope = .all) {
    self.metric = metric
    self.scope = scope
  }

  /// The metric's name, followed by its scope in parentheses unless the scope is `all`.
  package var description: String {
    switch scope {
    case .all: metric.rawValue
    case .entity(let name), .context(let name), .step(let name): "\(metric.rawValue)(\(name))"
    case .relationship(let entity, let name): "\(metric.rawValue)(\(entity).\(name))"
    }
  }

  /// Parses the format of `description`; returns `nil` for any other string.
  ///
  /// The names of steps, contexts, and entities are written the same way. One that begins with an
  /// uppercase letter is an entity's; any other is a step's.
  package init?(word: String) {
    guard let match = word.wholeMatch(of: /(\w+)(?:\((.+)\))?/),
      let metric = Metric(rawValue: String(match.1))
    else { return nil }
    guard let scope = match.2.map(String.init) else {
      self.init(metric)
      return
    }
    let parts = scope.split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 2 {
      self.init(metric, .relationship(entity: parts[0], name: parts[1]))
    } else if scope.first?.isUppercase == true {
      self.init(metric, .entity(scope))
    } else {
      self.init(metric, .step(scope))
    }
  }
}

/// The part of a recording that a metric covers.
package enum MetricScope: Hashable, Sendable {
  /// The entire recording.
  case all
  /// Events of objects of this entity, not including its subentities.
  case entity(String)
  /// The relationship faults and prefetches of one relationship.
  case relationship(entity: String, name: String)
  /// Events in the context of this name, including requests on its behalf.
  case context(String)
  /// Events caused by the steps of this name.
  case step(String)
}

/// The source of an expectation.
///
/// Core Data itself can't run in this project, so each expected value states where it comes from.
package enum SourceMark: String, Sendable, Codable, CaseIterable {
  /// Stated in *Core Data* by Florian Kugler and Daniel Eggert (objc.io).
  case book
  /// Follows from statements in the book.
  case derived
  /// Seen in a log or a store that Core Data wrote.
  case apple
  /// Chosen by this project; see DEVIATIONS.md.
  case ours
}

/// A behavior ID that a scenario covers, with the source of its numbers.
package struct CatalogReference: Sendable, Equatable, Codable {
  package var id: String
  package var source: SourceMark

  package init(id: String, source: SourceMark) {
    self.id = id
    self.source = source
  }
}
