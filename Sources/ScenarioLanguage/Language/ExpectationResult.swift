package import ProfileEvents
import WorkbenchText

/// The result of evaluating one expectation of an `expect` block.
package struct ExpectationResult: Sendable, Equatable {
  /// The comparison between the expected and the actual value.
  package enum Relation: String, Sendable, Codable {
    case equal
    case atMost
    case atLeast
    case between
    /// A plan requirement, such as `plan(moods): uses NAME` or `avoids scan`.
    case plan
  }

  /// The metric as written, such as `misses(Country)`.
  package var metric: String
  /// The formula as written, such as `1 + Mood + Country` or `at most 100`.
  package var formula: String
  package var relation: Relation
  /// The expected value: a number for `equal`, `atMost`, and `atLeast`; the string `A..B` for
  /// `between`.
  package var expected: ExpectationValue
  /// The actual value.
  package var actual: ExpectationValue
  /// A Boolean value that indicates whether the expectation is met.
  package var isMet: Bool
  package var source: SourceMark
  /// The source file and line of the expectation.
  package var location: CallSite
  /// If the expectation isn't met, messages about the events that explain the difference, most
  /// significant first.
  package var differences: [String]
  /// The reason why the engine of the run doesn't allow the expectation to be evaluated, or `nil` if it was.
  ///
  /// Such an expectation is neither met nor missed.
  package var obstacle: String?

  package init(
    metric: String, formula: String, relation: Relation, expected: ExpectationValue,
    actual: ExpectationValue, isMet: Bool, source: SourceMark, location: CallSite,
    differences: [String] = []
  ) {
    self.metric = metric
    self.formula = formula
    self.relation = relation
    self.expected = expected
    self.actual = actual
    self.isMet = isMet
    self.source = source
    self.location = location
    self.differences = differences
  }

  /// A Boolean value that indicates whether the expectation was evaluated and isn't met.
  package var isMissed: Bool { obstacle == nil && !isMet }

  /// The value of `metric` for an expected error; the result's values are error codes, 0 for no
  /// error.
  package static let fails = "fails"

  /// The actual value for display, such as `5,061` or `no error`.
  package var actualText: String {
    if obstacle != nil { return "not evaluated" }
    guard metric == ExpectationResult.fails, case .number(let code) = actual else {
      return actual.description
    }
    return code == 0 ? "no error" : String(code)
  }

  /// The expected value with its comparison for display, such as `5,061` or `at most 100`.
  package var expectedText: String {
    // An error code identifies an error; it isn't grouped like a count.
    if metric == ExpectationResult.fails { return formula }
    return switch relation {
    case .equal, .between, .plan: expected.description
    case .atMost: "at most \(expected)"
    case .atLeast: "at least \(expected)"
    }
  }
}

extension CountConstraint {
  /// Returns the relation of the formula and the value to compare with.
  ///
  /// - Throws: A `CountExpressionError` if an expression has no value.
  package func compared(
    in scope: CountExpressionScope
  ) throws(CountExpressionError) -> (ExpectationResult.Relation, ExpectationValue) {
    switch relation {
    case .equal: (.equal, .number(try value(in: scope)))
    case .atMost: (.atMost, .number(try value(in: scope)))
    case .atLeast: (.atLeast, .number(try value(in: scope)))
    case .range: (.between, .text(try expectation(in: scope)))
    }
  }
}

/// An expected or actual value: a count, a list of findings, or the text of a plan.
package enum ExpectationValue: Sendable, Equatable, CustomStringConvertible {
  case number(Int)
  case names([String])
  case text(String)

  /// The value for display, such as `5,061`, `fault-storm(Mood), fault-storm(Mood.country)`, or
  /// `none`.
  package var description: String {
    switch self {
    case .number(let number): NumberText.grouped(number)
    case .names(let names): names.isEmpty ? "none" : names.joined(separator: ", ")
    case .text(let text): text
    }
  }
}

extension ExpectationValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let names = try? container.decode([String].self) {
      self = .names(names)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .names(let names): try container.encode(names)
    case .text(let text): try container.encode(text)
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

/// The IDs of the finding rules in scenarios and reports.
package enum RuleName: String, Sendable, CaseIterable {
  case faultStorm = "fault-storm"
  case ineffectivePrefetch = "ineffective-prefetch"
  case unusedPrefetch = "unused-prefetch"
  case countPerRow = "count-per-row"
  case fetchToCount = "fetch-to-count"
  case fetchLoop = "fetch-loop"
  case partlyRead = "partly-read"
  case batchWalked = "batch-walked"
  case sortedInMemory = "sorted-in-memory"
  case chattySaves = "chatty-saves"
  case needlessUpdate = "needless-update"
  case busyMainQueue = "busy-main-queue"
  case unmergedBatch = "unmerged-batch"
  case lostChanges = "lost-changes"
  case keptAlive = "kept-alive"
  case missingIndex = "missing-index"
  case inferableMapping = "inferable-mapping"
  case severalHops = "several-hops"
  case filledDefault = "filled-default"
  case indexWithoutModifier = "index-without-modifier"
  case deferrableCopy = "deferrable-copy"
  case rewrittenTwice = "rewritten-twice"
}

/// An expectation's result in the JSON file.
///
/// The property names are the JSON keys.
package struct JSONExpectation: Codable {
  var metric: String
  var law: String
  var relation: ExpectationResult.Relation
  var expected: ExpectationValue
  var found: ExpectationValue
  var holds: Bool
  var source: SourceMark
  var location: JSONLocation
  var differences: [String]
  var unevaluated: String?

  package init(_ result: ExpectationResult) {
    metric = result.metric
    law = result.formula
    relation = result.relation
    expected = result.expected
    found = result.actual
    holds = result.isMet
    source = result.source
    location = JSONLocation(result.location)
    differences = result.differences
    unevaluated = result.obstacle
  }

  /// The result that the JSON represents.
  package var result: ExpectationResult {
    var result = ExpectationResult(
      metric: metric, formula: law, relation: relation, expected: expected, actual: found,
      isMet: holds,
      source: source, location: location.site, differences: differences)
    result.obstacle = unevaluated
    return result
  }
}

/// A call site, encoded as the string `FILE:LINE`, such as `Scenarios/faults.yml:16`.
package struct JSONLocation: Codable {
  package var site: CallSite

  package init(_ site: CallSite) {
    self.site = site
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let colon = text.lastIndex(of: ":"), let line = Int(text[colon...].dropFirst()) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "`\(text)` doesn't have the form FILE:LINE")
    }
    site = CallSite(file: String(text[..<colon]), line: line)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(site.file):\(site.line)")
  }
}
