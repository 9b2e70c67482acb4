package import Foundation
import ScenarioLanguage
import WorkbenchText

/// A comparison as JSON.
package enum ComparisonJSON {
  /// Returns a comparison as UTF-8 that ends with a line feed.
  ///
  /// - Parameters:
  ///   - comparison: The comparison.
  ///   - failures: The messages that `ComparisonFailureCriteria.failures(of:)` returned.
  /// - Throws: An `EncodingError`, which no comparison can cause.
  package static func data(_ comparison: RunComparison, failures: [String]) throws -> Data {
    try JSONOutput.flat(
      Document(
        title: comparison.title, holds: failures.isEmpty, failures: failures,
        notes: comparison.notes, missing: comparison.missing, added: comparison.added,
        variants: comparison.variants.map(Variant.init),
        statements: comparison.statements.isEmpty
          ? nil : comparison.statements.map(Statement.init)))
  }

  private struct Document: Encodable {
    var title: String
    var holds: Bool
    var failures: [String]
    var notes: [String]
    var missing: [String]
    var added: [String]
    var variants: [Variant]
    /// The statements of two logs; nil for results.
    var statements: [Statement]?
  }

  private struct Statement: Encodable {
    var sql: String
    var callsBefore: Int
    var callsAfter: Int
    var rowsBefore: Int
    var rowsAfter: Int
    var time: Time?

    init(_ statement: ComparedStatement) {
      sql = statement.sql
      callsBefore = statement.calls.before
      callsAfter = statement.calls.after
      rowsBefore = statement.rows.before
      rowsAfter = statement.rows.after
      time = statement.time.map(Time.init)
    }
  }

  private struct Count: Encodable {
    var metric: String
    var before: Int
    var after: Int
  }

  private struct Variant: Encodable {
    var name: String
    var counts: [Count]
    var newFindings: [String]
    var goneFindings: [String]
    var time: Time

    init(_ variant: ComparedVariant) {
      name = variant.name
      counts = variant.counts.map {
        Count(metric: $0.metric.description, before: $0.before, after: $0.after)
      }
      newFindings = variant.newFindings
      goneFindings = variant.goneFindings
      time = Time(variant.time)
    }
  }

  private struct Time: Encodable {
    var before: UInt64
    var after: UInt64
    /// `faster`, `slower`, or `inconclusive`.
    var verdict: String
    var reason: String?

    init(_ time: ComparedTime) {
      before = time.before.median
      after = time.after.median
      switch time.verdict {
      case .faster: verdict = "faster"
      case .slower: verdict = "slower"
      case .inconclusive(let why):
        verdict = "inconclusive"
        reason = why
      }
    }
  }
}
