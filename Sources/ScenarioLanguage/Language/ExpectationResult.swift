package import ProfileEvents
import WorkbenchText

/// One line of an `expect` block and what came of it.
package struct ExpectationResult: Sendable, Equatable {
  /// How expected and found are compared.
  package enum Relation: String, Sendable, Codable {
    case equal
    case atMost
    case atLeast
    case between
    /// `plan(moods): uses NAME`, `avoids scan`.
    case plan
  }

  /// As written: `misses(Country)`.
  package var metric: String
  /// As written: `1 + Mood + Country`, `at most 100`.
  package var law: String
  package var relation: Relation
  /// A number for `equal`, `atMost` and `atLeast`; the text `A..B` for `between`.
  package var expected: ExpectationValue
  package var found: ExpectationValue
  package var holds: Bool
  package var source: SourceMark
  /// Where it is written.
  package var location: CallSite
  /// When it does not hold: sentences about the events behind the difference, most telling first.
  package var differences: [String]

  package init(
    metric: String, law: String, relation: Relation, expected: ExpectationValue,
    found: ExpectationValue, holds: Bool, source: SourceMark, location: CallSite,
    differences: [String] = []
  ) {
    self.metric = metric
    self.law = law
    self.relation = relation
    self.expected = expected
    self.found = found
    self.holds = holds
    self.source = source
    self.location = location
    self.differences = differences
  }

  /// Instead of a metric: the error code with which a step must fail, 0 for none.
  package static let fails = "fails"

  /// What was found, for a person: `5,061`, `no error`.
  package var foundText: String {
    guard metric == ExpectationResult.fails, case .number(let code) = found else {
      return found.description
    }
    return code == 0 ? "no error" : String(code)
  }

  /// What was asked for with its comparison: `5,061`, `at most 100`.
  package var expectedText: String {
    // A code is a name and no number.
    if metric == ExpectationResult.fails { return law }
    return switch relation {
    case .equal, .between, .plan: expected.description
    case .atMost: "at most \(expected)"
    case .atLeast: "at least \(expected)"
    }
  }
}

extension CountConstraint {
  /// How the formula compares, and with what.
  ///
  /// - Throws: when an expression has no value.
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

/// What was expected or found: a count, a list of findings, or a plan's wording.
package enum ExpectationValue: Sendable, Equatable, CustomStringConvertible {
  case number(Int)
  case names([String])
  case text(String)

  /// As a person reads it: `5,061`, `fault-storm(Mood), fault-storm(Mood.country)`, `none`.
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

/// A metric together with its scope: `misses(Country)` in a scenario, a shell line and a report.
package struct ScopedMetric: Hashable, Sendable, CustomStringConvertible {
  package var metric: Metric
  package var scope: MetricScope

  package init(_ metric: Metric, _ scope: MetricScope = .all) {
    self.metric = metric
    self.scope = scope
  }

  /// The metric's word, with its scope in brackets where it has one.
  package var description: String {
    switch scope {
    case .all: metric.rawValue
    case .entity(let name), .context(let name), .step(let name): "\(metric.rawValue)(\(name))"
    case .relationship(let entity, let name): "\(metric.rawValue)(\(entity).\(name))"
    }
  }
}

/// What part of a recording a number is about.
package enum MetricScope: Hashable, Sendable {
  /// Everything.
  case all
  /// Events of objects whose own entity has this name; subentities are not included.
  case entity(String)
  /// Relationship faults and prefetches of one relationship.
  case relationship(entity: String, name: String)
  /// What happened in the context of this name, and what was asked on its behalf.
  case context(String)
  /// What the steps of this name caused.
  case step(String)
}

/// Where an expectation comes from; Apple's framework cannot be run here.
package enum SourceMark: String, Sendable, Codable, CaseIterable {
  /// Printed in the book.
  case book
  /// Follows from the book.
  case derived
  /// Seen in a real log or store of Apple's framework.
  case apple
  /// Chosen here; see DEVIATIONS.md.
  case ours
}

/// An id of the catalog that a scenario covers, with where its numbers come from.
package struct CatalogReference: Sendable, Equatable, Codable {
  package var id: String
  package var source: SourceMark

  package init(id: String, source: SourceMark) {
    self.id = id
    self.source = source
  }
}

/// The rules of findings, as scenarios and reports name them.
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
}
