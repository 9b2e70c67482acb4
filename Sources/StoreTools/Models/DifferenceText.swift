package import Foundation
package import OpenCoreData
import WorkbenchText

/// The text and JSON formats of the differences between two models, with what migrating a store
/// costs.
package enum DifferenceText {
  /// Returns a summary, and for each difference its reason, its cost, and the SQL that it causes.
  ///
  /// **Cost:** that of `LightweightMigrationCosts`.
  /// - Parameters:
  ///   - comparison: The comparison.
  ///   - isGuessed: Whether only version hashes were compared, which are equal.
  package static func lines(
    _ comparison: ModelComparison, isGuessed: Bool = false
  ) throws -> [String] {
    let differences = comparison.differences
    guard !isGuessed else {
      return [
        "The version hashes are equal. Nothing else was compared, because a store doesn't contain its "
          + "model."
      ]
    }
    guard !differences.isEmpty else { return ["The models are equivalent."] }
    let costs = try LightweightMigrationCosts(comparison)
    var lines = [summary(comparison), ""]
    let isLightweight = comparison.effect == .lightweight
    for index in differences.indices {
      lines += self.lines(index, comparison, isLightweight ? costs : nil)
    }
    if isLightweight {
      let others = costs.statements.filter(\.causes.isEmpty)
      lines += ["", "Each migration also writes the metadata and the model in the store."]
      lines += others.map { statement("  ", $0) }
    }
    return lines
  }

  /// Returns one JSON object: `{"effect", "verdict", "guessed", "refused", "differences": [{"kind",
  /// "subject", …}], "statements": […]}`.
  ///
  /// **Cost:** that of `LightweightMigrationCosts`.
  /// - Parameters:
  ///   - comparison: The comparison.
  ///   - isGuessed: Whether only version hashes were compared, which are equal.
  package static func json(
    _ comparison: ModelComparison, isGuessed: Bool = false
  ) throws -> Data {
    let costs = try LightweightMigrationCosts(comparison)
    let effect = comparison.effect
    return try JSONOutput.lines(
      Document(
        effect: effect.rawValue, verdict: summary(comparison),
        guessed: isGuessed,
        refused: comparison.differences.filter { $0.effect == .custom }.map(Refusal.init),
        differences: comparison.differences.indices.map { index in
          Difference(
            comparison.differences[index],
            cost: effect == .custom ? nil : costs.cost(ofDifferenceAt: index).rawValue,
            statements: costs.statements(ofDifferenceAt: index))
        },
        statements: costs.statements.map {
          Statement(name: $0.name, sql: $0.sql, cost: $0.cost.rawValue, causes: $0.causes)
        }))
  }

  private static func summary(_ comparison: ModelComparison) -> String {
    switch comparison.effect {
    case .none: "A store of the first model opens with the second one without a migration."
    case .lightweight: "A store of the first model needs a lightweight migration."
    case .custom: "A store of the first model needs a mapping model, which can't be inferred."
    }
  }

  /// Returns the lines of a difference.
  ///
  /// - Parameter costs: The costs of the migration; `nil` if it isn't lightweight.
  private static func lines(
    _ index: Int, _ comparison: ModelComparison, _ costs: LightweightMigrationCosts?
  ) -> [String] {
    let difference = comparison.differences[index]
    let indent = "          "
    var lines = [first(difference)]
    if let reason = difference.reason { lines.append(PrintableText.line(indent + reason)) }
    if let change = difference.leastChange {
      lines.append(PrintableText.line("\(indent)To keep the migration lightweight: \(change)"))
    }
    guard let costs else { return lines }
    lines.append("\(indent)cost: \(costs.cost(ofDifferenceAt: index).rawValue)")
    for position in costs.statements(ofDifferenceAt: index) {
      let found = costs.statements[position]
      guard found.causes.first == index else {
        let owner = comparison.differences[found.causes[0]]
        lines.append(
          PrintableText.line(
            "\(indent)\(found.name) · the statement above, of \(owner.subject.rawValue) \(owner.path)"
          ))
        continue
      }
      lines.append(statement(indent, found))
    }
    return lines
  }

  private static func statement(
    _ indent: String, _ statement: LightweightMigrationCosts.Statement
  ) -> String {
    PrintableText.line("\(indent)\(statement.sql)")
  }

  private static func first(_ difference: ModelDifference) -> String {
    let effect =
      switch difference.effect {
      case .none: ""
      case .lightweight: "   (lightweight)"
      case .custom: "   (not lightweight)"
      }
    let former = difference.former.map { " from \($0)" } ?? ""
    let detail = difference.detail.map { ": \($0)" } ?? ""
    let path = difference.path.isEmpty ? "" : " \(difference.path)"
    return "\(NumberText.left(difference.kind.rawValue, 8))\(difference.subject.rawValue)\(path)"
      + former + detail + effect
  }

  private struct Document: Encodable {
    let effect: String
    let verdict: String
    /// Whether only version hashes were compared.
    let guessed: Bool
    /// What can't be inferred; empty if there's nothing.
    let refused: [Refusal]
    let differences: [Difference]
    let statements: [Statement]
  }

  private struct Refusal: Encodable {
    let entity: String?
    let property: String?
    let reason: String?
    let leastChange: String?

    init(_ difference: ModelDifference) {
      (entity, property) = (difference.entity, difference.name)
      (reason, leastChange) = (difference.reason, difference.leastChange)
    }
  }

  private struct Statement: Encodable {
    let name: String
    let sql: String
    let cost: String
    /// The positions of the differences; empty if each migration runs it.
    let causes: [Int]
  }

  private struct Difference: Encodable {
    let kind: String
    let subject: String
    let entity: String?
    let name: String?
    let former: String?
    let detail: String?
    let effect: String
    let reason: String?
    /// `nil` if the migration can't be inferred.
    let cost: String?
    /// The positions of the statements.
    let statements: [Int]

    init(_ difference: ModelDifference, cost: String?, statements: [Int]) {
      kind = difference.kind.rawValue
      subject = difference.subject.rawValue
      entity = difference.entity
      name = difference.name
      former = difference.former
      detail = difference.detail
      effect = difference.effect.rawValue
      reason = difference.reason
      (self.cost, self.statements) = (cost, statements)
    }
  }
}
