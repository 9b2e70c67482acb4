package import Foundation
package import OpenCoreData
import WorkbenchText

/// The text format of a model.
package enum ModelText {
  /// Returns lines with the origin of the model, and each entity with its properties, indexes, and
  /// constraints.
  package static func lines(_ found: FoundModel) -> [String] {
    let tree = found.model.entityTree
    return head(found) + tree.flatMap { lines(of: $0.entity, depth: $0.depth, found) }
      + end(found.model)
  }

  private static func head(_ found: FoundModel) -> [String] {
    let model = found.model
    let identifiers = model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
    let count = NumberText.counted(model.entities.count, "entity", "entities")
    var first = "\(found.url.lastPathComponent)   \(count)"
    if let version = found.version, found.versions.count > 1 {
      first += ", version \(version) of \(found.versions.count)"
    }
    var lines = [first]
    let place =
      switch found.origin {
      case .document: "a document"
      case .compiled: "a compiled model"
      case .store: "the store's model"
      case .tables: "the store's tables"
      }
    lines.append("  read from     \(place)")
    if !identifiers.isEmpty {
      lines.append("  identifiers   \(identifiers.joined(separator: ", "))")
    }
    if found.versions.count > 1 {
      lines.append("  versions      \(found.versions.joined(separator: ", "))")
    }
    guard found.origin == .tables else { return lines }
    let reason =
      found.storeProblem.map { "The store's model can't be read: \($0)" }
      ?? "The store contains no model (Z_MODELCACHE)."
    return lines + [
      reason,
      "Entities are exact. Names of properties are inferred from column names, which are uppercase,",
      "and destinations are inferred, too. To-many relationships are recognized only if they have a",
      "join table.",
    ]
  }

  private static func lines(
    of entity: NSEntityDescription, depth: Int, _ found: FoundModel
  ) -> [String] {
    let note = found.origin == .tables ? ", inferred" : ""
    let blanks = String(repeating: "  ", count: depth)
    let own = entity.properties.filter { $0.entity === entity }.sorted { $0.name < $1.name }
    let width = own.map(\.name.count).max() ?? 0
    let heading = entity.outline[0].dropFirst("entity ".count)
    return ["", blanks + heading]
      + own.map { property in
        "\(blanks)  \(NumberText.left(property.name, width))   "
          + property.facts.joined(separator: ", ") + note
      }
      + entity.outline.dropFirst(1 + own.count).map { blanks + $0 }
  }

  /// Returns the lines for configurations and fetch requests.
  private static func end(_ model: NSManagedObjectModel) -> [String] {
    let lines = model.outline.filter {
      $0.hasPrefix("configuration ") || $0.hasPrefix("fetch request ")
    }
    return lines.isEmpty ? [] : [""] + lines
  }
}

/// The text format of a model's warnings, for standard error.
package enum ModelWarningText {
  private static let most = 3

  /// Returns a line for each of the first warnings, and one with the number of further warnings.
  ///
  /// - Parameters:
  ///   - problems: The problems of the model, of which only warnings are included.
  ///   - path: The path of the model, for a `cdprof model` command.
  package static func lines(_ problems: [ModelError], path: String) -> [String] {
    let warnings = problems.filter(\.isWarning)
    let shown = warnings.prefix(most).map { $0.file == nil ? "warning: \($0)" : "\($0)" }
    guard warnings.count > most else { return shown }
    let command = "cdprof model \(CommandWord.quoted(path)) --check"
    return shown + ["warning: \(warnings.count - most) more; `\(command)` lists them"]
  }
}

/// The text and JSON formats of the differences between two models.
package enum DifferenceText {
  /// Returns a summary, and one line for each difference, followed by its reason.
  package static func lines(_ comparison: ModelComparison) -> [String] {
    let differences = comparison.differences
    guard !differences.isEmpty else {
      return ["The models are equivalent."]
    }
    return [summary(comparison), ""] + differences.flatMap(lines)
  }

  /// Returns one JSON object: `{"effect", "verdict", "differences": [{"kind", "subject", …}]}`.
  package static func json(_ comparison: ModelComparison) throws -> Data {
    try JSONOutput.lines(
      Document(
        effect: comparison.effect.rawValue, verdict: summary(comparison),
        differences: comparison.differences.map(Difference.init)))
  }

  private static func summary(_ comparison: ModelComparison) -> String {
    switch comparison.effect {
    case .none: "A store of the first model opens with the second one without a migration."
    case .lightweight: "A store of the first model needs a lightweight migration."
    case .custom: "A store of the first model needs a mapping model, which can't be inferred."
    }
  }

  private static func lines(_ difference: ModelDifference) -> [String] {
    let effect =
      switch difference.effect {
      case .none: ""
      case .lightweight: "   (lightweight)"
      case .custom: "   (not lightweight)"
      }
    let former = difference.former.map { " from \($0)" } ?? ""
    let detail = difference.detail.map { ": \($0)" } ?? ""
    let path = difference.path.isEmpty ? "" : " \(difference.path)"
    let first =
      "\(NumberText.left(difference.kind.rawValue, 8))\(difference.subject.rawValue)\(path)"
      + former + detail + effect
    return [first] + (difference.reason.map { ["          \($0)"] } ?? [])
  }

  private struct Document: Encodable {
    let effect: String
    let verdict: String
    let differences: [Difference]
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

    init(_ difference: ModelDifference) {
      kind = difference.kind.rawValue
      subject = difference.subject.rawValue
      entity = difference.entity
      name = difference.name
      former = difference.former
      detail = difference.detail
      effect = difference.effect.rawValue
      reason = difference.reason
    }
  }
}
