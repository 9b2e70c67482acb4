import Foundation
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
    let source =
      switch found.origin {
      case .document: "a document"
      case .compiled: "a compiled model"
      case .store: "the store's model"
      case .tables: "the store's tables"
      }
    lines.append("  read from     \(source)")
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
    let indent = String(repeating: "  ", count: depth)
    let own = entity.properties.filter { $0.entity === entity }.sortedByName()
    let width = own.map { TextWidth.of($0.name) }.max() ?? 0
    let heading = entity.outline[0].dropFirst("entity ".count)
    return ["", indent + heading]
      + own.map { property in
        "\(indent)  \(NumberText.left(property.name, width))   "
          + property.facts.joined(separator: ", ") + note
      }
      + entity.outline.dropFirst(1 + own.count).map { indent + $0 }
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
