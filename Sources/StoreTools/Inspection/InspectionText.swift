import Foundation
import WorkbenchText

/// The text format of an inspection.
package enum InspectionText {
  /// Returns the lines of an inspection, without newlines.
  package static func lines(_ inspection: StoreInspection) -> [String] {
    head(inspection) + [""] + table(inspection.entities) + notes(inspection)
      + inspection.entities.flatMap(properties) + indexes(inspection.indexes)
      + spaces(inspection) + [""] + files(inspection.files) + storage(inspection)
      + ["", "Next: cdprof shell \(CommandWord.quoted(inspection.url.relativePath))"]
  }

  private static func head(_ inspection: StoreInspection) -> [String] {
    var writer = inspection.writer.name
    if inspection.writer == .apple { writer = "Apple's \(writer)" }
    if let version = inspection.frameworkVersion { writer += ", framework version \(version)" }
    let identifiers = inspection.modelIdentifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    let source =
      switch inspection.modelSource {
      case .cache: "in the store"
      case .schema: inspection.modelProblem == nil ? "not in the store" : "unreadable in the store"
      }
    let configuration = inspection.configuration.map { ", configuration \($0)" } ?? ""
    return [
      "\(inspection.url.lastPathComponent)   \(NumberText.counted(inspection.rowCount, "row"))",
      "  written by   \(writer)",
      "  model        \(identifiers.isEmpty ? "no identifier" : identifiers), \(source)\(configuration)",
      "  hashes       \(inspection.hasOwnDigests ? "OpenCoreData's digests" : "Core Data's version hashes")",
      "  store UUID   \(inspection.uuid)",
    ]
  }

  private static func table(_ entities: [InspectedEntity]) -> [String] {
    let names = entities.map { String(repeating: "  ", count: $0.depth) + $0.name }
    let name = max(8, names.map { TextWidth.of($0) }.max() ?? 0)
    let count = max(6, entities.map { NumberText.grouped($0.count).count }.max() ?? 0)
    func line(_ cells: (String, String, String, String)) -> String {
      let line =
        "  \(NumberText.left(cells.0, name))  \(NumberText.right(cells.1, count))  "
        + "\(NumberText.right(cells.2, count))   \(cells.3)"
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
    let head = "Entities" + line(("", "rows", "own", "table")).dropFirst(8)
    return [head]
      + zip(names, entities).map { name, entity in
        let table = entity.depth > 0 ? "" : entity.table ?? "(no table)"
        let note = entity.isAbstract ? "   abstract" : ""
        return line(
          (
            name, NumberText.grouped(entity.count), NumberText.grouped(entity.ownCount),
            table + note
          ))
      }
  }

  private static func notes(_ inspection: StoreInspection) -> [String] {
    guard inspection.modelSource == .schema else { return [] }
    let reason =
      inspection.modelProblem.map { "The store's model can't be read: \($0)" }
      ?? "The store contains no model (Z_MODELCACHE)."
    return [
      "", reason,
      "Entities and row counts are exact. Names of properties are inferred from column names, which",
      "are uppercase, and destinations are inferred, too. Many-to-many relationships are recognized;",
      "one-to-many relationships aren't.",
    ]
  }

  private static func properties(of entity: InspectedEntity) -> [String] {
    guard !entity.attributes.isEmpty || !entity.relationships.isEmpty else { return [] }
    let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    let width = names.map { TextWidth.of($0) }.max() ?? 0
    let parent = entity.superentity.map { ": \($0)" } ?? ""
    return ["", entity.name + parent]
      + entity.attributes.map { "  \(NumberText.left($0.name, width))   \($0.facts)" }
      + entity.relationships.map { "  \(NumberText.left($0.name, width))   \($0.facts)" }
  }

  private static func indexes(_ indexes: [InspectedIndex]) -> [String] {
    guard !indexes.isEmpty else { return ["", "No indexes"] }
    let width = indexes.map { TextWidth.of($0.name) }.max() ?? 0
    return ["", "Indexes"]
      + indexes.map { index in
        let notes = (index.isUnique ? "   unique" : "") + (index.isPartial ? "   partial" : "")
        return "  \(NumberText.left(index.name, width))   \(index.table) "
          + "(\(index.columns.joined(separator: ", ")))\(notes)"
      }
  }

  private static func files(_ files: InspectedFiles) -> [String] {
    let log =
      files.logBytes.map { bytes in
        NumberText.counted(Int(clamping: bytes), "byte") + ", "
          + NumberText.counted(files.logFrames ?? 0, "page")
      } ?? "none"
    var lines = [
      "Sizes",
      "  file              \(NumberText.counted(Int(clamping: files.bytes), "byte"))",
      "  write-ahead log   \(log)",
      "  pages             \(NumberText.grouped(files.pages)) of "
        + "\(NumberText.grouped(files.pageSize)) bytes, \(NumberText.grouped(files.freePages)) free",
    ]
    if files.reading == .temporaryCopy {
      lines.append(
        "  A hot journal was found; it was rolled back in a temporary copy, which was read instead."
      )
    }
    return lines
  }
}

extension InspectedAttribute {
  /// The type and options: `Date, optional`.
  fileprivate var facts: String {
    let notes = [
      isOptional ? "optional" : nil, isTransient ? "transient" : nil, isDerived ? "derived" : nil,
    ]
    return ([type] + notes.compactMap(\.self)).joined(separator: ", ")
  }
}

extension InspectedRelationship {
  /// The destination and options: `to one Country, inverse moods, delete rule nullify`.
  fileprivate var facts: String {
    guard let destination else { return "to-one relationship" }
    let notes = [
      inverse.map { "inverse \($0)" }, isOrdered ? "ordered" : nil, isOptional ? "optional" : nil,
      deleteRule.map { "delete rule \($0.lowercased())" },
      spread?.text(isToMany: isToMany),
    ]
    return (["to \(isToMany ? "many" : "one") \(destination)"] + notes.compactMap(\.self))
      .joined(separator: ", ")
  }
}

// The space, external files, history, and metadata of an inspection.

extension InspectionText {
  /// Returns the lines for the tables and indexes that take the most space.
  static func spaces(_ inspection: StoreInspection) -> [String] {
    guard let spaces = inspection.spaces, !spaces.isEmpty else { return [] }
    let shown = spaces.prefix(spaceLimit)
    let width = shown.map { TextWidth.of($0.name) }.max() ?? 0
    let number = shown.map { NumberText.grouped($0.bytes).count }.max() ?? 0
    let total = spaces.reduce(0) { $0 + $1.bytes }
    let unused = spaces.reduce(0) { $0 + $1.unused }
    let rest = spaces.count - shown.count
    return ["", "Space of tables and indexes"]
      + shown.map { space in
        "  \(NumberText.left(space.name, width))   \(NumberText.right(space.bytes, number)) bytes"
          + "   \(percent(space.unused, of: space.bytes)) unused"
      }
      + (rest > 0 ? ["  and \(rest) more"] : [])
      + ["  \(percent(unused, of: total)) of this space is unused"]
  }

  private static let spaceLimit = 20

  /// Returns the lines for the external data files, the history, and the app's own metadata.
  static func storage(_ inspection: StoreInspection) -> [String] {
    var lines: [String] = []
    let external = inspection.externalFiles
    if external.count > 0 {
      lines.append(
        "  external values   \(NumberText.counted(external.count, "file")), "
          + NumberText.counted(external.bytes, "byte"))
    }
    if let history = inspection.history {
      lines.append(
        "  history           \(NumberText.counted(history.transactions, "transaction")), "
          + NumberText.counted(history.changes, "change") + period(history))
    }
    for (key, value) in inspection.metadata {
      lines.append("  metadata          \(key) = \(value)")
    }
    return lines
  }

  private static func period(_ history: InspectedHistory) -> String {
    guard let first = history.first, let last = history.last else { return "" }
    return ", \(day(first)) to \(day(last))"
  }

  private static func day(_ seconds: Double) -> String {
    Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601.year().month().day())
  }

  private static func percent(_ part: Int, of whole: Int) -> String {
    whole == 0 ? "0%" : "\(part * 100 / whole)%"
  }
}

extension InspectedSpread {
  /// Returns the numbers of destinations: `at most 120, average 8.3, 4 with none`.
  func text(isToMany: Bool) -> String? {
    guard owners > 0 else { return nil }
    guard isToMany else { return empty == 0 ? nil : "\(NumberText.grouped(empty)) with none" }
    let tenths = Int((mean * 10).rounded())
    return "at most \(NumberText.grouped(most)), average \(NumberText.grouped(tenths / 10))"
      + ".\(tenths % 10), \(NumberText.grouped(empty)) with none"
  }
}
