import Foundation
import OpenCoreData
package import SQLiteDriver
import WorkbenchText

/// Detects inconsistencies in `Z_PRIMARYKEY`, and between it and the model.
///
/// Names aren't compared with the model because the table can contain an entity's former name.
struct EntityListRule: DoctorRule {
  private struct Listed {
    let number: Int64
    let name: String
    let parent: Int64
  }

  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let listed = try store.connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT "
        + "LIMIT \(HousekeepingTables.largestEntityList)"
    ).compactMap { row -> Listed? in
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else { return nil }
      if case .integer(let parent) = row[2] {
        return Listed(number: number, name: name, parent: parent)
      }
      return Listed(number: number, name: name, parent: 0)
    }
    return duplicates(in: listed) + cycles(in: listed)
      + (store.anatomy.source.isInferred ? [] : otherParents(listed, store.mapping))
  }

  private func duplicates(in listed: [Listed]) -> [DoctorFinding] {
    Dictionary(grouping: listed, by: \.name).filter { $0.value.count > 1 }
      .sorted { $0.key < $1.key }
      .map { name, entries in
        finding(
          entries,
          "\(name) is listed \(entries.count) times in Z_PRIMARYKEY; the entity ID of its "
            + "rows is ambiguous", "delete the rows whose Z_ENT isn't an entity of the table")
      }
  }

  private func cycles(in listed: [Listed]) -> [DoctorFinding] {
    let parents = Dictionary(listed.map { ($0.number, $0.parent) }) { first, _ in first }
    // Whether the parents of an entity end with 0; each entity is followed once.
    var ends: [Int64: Bool] = [0: true]
    for entity in listed where ends[entity.number] == nil {
      var path: [Int64] = []
      var number = entity.number
      while ends[number] == nil {
        // If the path returns to the entity before its end is known, it's a cycle.
        ends[number] = false
        path.append(number)
        number = parents[number] ?? 0
      }
      if ends[number] == true {
        for member in path { ends[member] = true }
      }
    }
    let lost = listed.filter { ends[$0.number] == false }
    guard !lost.isEmpty else { return [] }
    return [
      finding(
        lost, "Z_SUPER forms a cycle above \(lost.map(\.name).joined(separator: ", "))",
        "set Z_SUPER to the entity ID of the parent, or to 0 if there's none")
    ]
  }

  private func otherParents(_ listed: [Listed], _ mapping: SQLModel) -> [DoctorFinding] {
    listed.compactMap { entry in
      guard let entity = mapping.entity(number: Int(clamping: entry.number)) else { return nil }
      let parent = entity.superentity
      guard entry.parent != Int64(parent?.number ?? 0) else { return nil }
      return finding(
        [entry],
        "the parent of \(entity.name) is entity \(entry.parent) in Z_PRIMARYKEY, but "
          + (parent.map { "\($0.number) (\($0.name))" } ?? "none") + " in the model",
        "set Z_SUPER to \(parent?.number ?? 0)")
    }
  }

  private func finding(
    _ entries: [Listed], _ message: String, _ nextStep: String
  ) -> DoctorFinding {
    DoctorFinding(
      .entityList, entity: entries.first?.name, table: "Z_PRIMARYKEY", count: entries.count,
      examples: entries.map { "Z_ENT \($0.number) \($0.name), Z_SUPER \($0.parent)" }, message,
      nextStep: nextStep)
  }
}

/// Runs SQLite's integrity check of pages, records, and indexes.
package enum IntegrityCheck {
  /// The number of problems after which SQLite stops.
  private static let limit = 20

  /// Returns a finding if the integrity check fails, or can't be completed for a reason that's in
  /// the file, such as an index on an app's own function.
  ///
  /// If an index calls a function that can take arbitrarily long, entries of indexes aren't
  /// compared, which is a finding, too: no limit on VM steps ends the call of a function.
  ///
  /// - Throws: A `SQLiteError` if the file can't be read: it's locked, memory or file operations
  ///   fail, or the check is interrupted. **Cost:** reads the whole file.
  static func findings(on connection: Connection) throws(SQLiteError) -> [DoctorFinding] {
    let lines: [String]
    let costly: [String]
    do {
      // Core Data doesn't write CHECK constraints, and those of others can perform arbitrary
      // calculations.
      try connection.execute("PRAGMA ignore_check_constraints = 1")
      if let column = try calculatedColumn(on: connection) {
        return [incomplete("\(column) is generated, and its calculation can take arbitrarily long")]
      }
      costly = try costlyIndexes(on: connection)
      let check = costly.isEmpty ? "integrity_check" : "quick_check"
      lines = try connection.values("PRAGMA \(check)(\(limit))").compactMap { row in
        if case .text(let line)? = row.first, line != "ok" { line } else { nil }
      }
    } catch {
      guard error.isOfContent else { throw error }
      return [error.code.isOfCorruptFile ? finding([error.message]) : incomplete(error.message)]
    }
    return (lines.isEmpty ? [] : [finding(lines)]) + (costly.isEmpty ? [] : [uncompared(costly)])
  }

  private static func incomplete(_ reason: String) -> DoctorFinding {
    DoctorFinding(
      .integrity, examples: [reason], unfinished,
      nextStep: "check a copy in the app that writes the file, with PRAGMA integrity_check")
  }

  private static func uncompared(_ indexes: [String]) -> DoctorFinding {
    DoctorFinding(
      .integrity, count: indexes.count, examples: indexes, severity: .note,
      "the entries of indexes aren't compared with the rows, because "
        + "\(NumberText.counted(indexes.count, "index", "indexes")) "
        + "\(PluralForm.of(indexes.count, "calls", "call")) a function that can take arbitrarily long",
      nextStep: "if you trust the file, run PRAGMA integrity_check on a copy with `sqlite3`")
  }

  /// Returns a generated column that SQLite calculates to check that it isn't NULL.
  private static func calculatedColumn(
    on connection: Connection
  ) throws(SQLiteError) -> String? {
    let rows = try connection.values(
      "SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c "
        + "WHERE m.type = 'table' AND m.sql LIKE 'CREATE TABLE%' AND m.sql LIKE '%AS%(%' "
        + "AND c.hidden = 2 AND c.\"notnull\" LIMIT 1")
    guard case .text(let name)? = rows.first?.first else { return nil }
    return name
  }

  /// Returns the names of indexes that call functions other than those that are known to be fast.
  ///
  /// **Cost:** one SELECT from the schema.
  /// - Throws: SQLite's error if the schema can't be read.
  package static func costlyIndexes(
    on connection: Connection
  ) throws(SQLiteError) -> [String] {
    let rows = try connection.values(
      "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%(%(%' ORDER BY name")
    return rows.compactMap { row in
      guard case .text(let name) = row[0], case .text(let sql) = row[1], mayBeCostly(sql) else {
        return nil
      }
      return name
    }
  }

  /// The words that can precede a parenthesis in an index whose entries are quickly calculated.
  private static let harmlessWords: Set = [
    "abs", "and", "between", "cast", "coalesce", "else", "ifnull", "in", "length", "lower", "not",
    "nullif", "or", "round", "substr", "then", "typeof", "upper", "when", "where",
  ]

  /// Returns whether a `CREATE INDEX` statement may call other functions.
  ///
  /// What precedes a parenthesis is taken for such a function unless it's known not to be one, so
  /// that neither quotation marks nor comments hide it.
  private static func mayBeCostly(_ sql: String) -> Bool {
    let text = Array(sql.utf8)
    func isOfWord(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
        true
      default: false
      }
    }
    let parentheses = text.indices.filter { text[$0] == UInt8(ascii: "(") }
    // The list of columns begins with the first one, unless a name or a comment contains it.
    return parentheses.dropFirst().contains { index in
      var end = index
      while end > 0, text[end - 1] <= 0x20 { end -= 1 }
      var start = end
      while start > 0, isOfWord(text[start - 1]) { start -= 1 }
      guard start < end else { return end == 0 || !"(,=<>+*|&".utf8.contains(text[end - 1]) }
      let word = String(decoding: text[start..<end], as: UTF8.self)
      return !harmlessWords.contains(word.lowercased())
    }
  }

  /// The message of a check that ended early.
  private static let unfinished = "SQLite's integrity check can't be completed"

  /// Returns whether findings report that the file is corrupt.
  static func isCorrupt(_ findings: [DoctorFinding]) -> Bool {
    findings.contains {
      $0.rule == .integrity && $0.severity == .error && $0.message != unfinished
    }
  }

  static func finding(_ lines: [String]) -> DoctorFinding {
    DoctorFinding(
      .integrity, count: lines.count, examples: lines,
      "the file is corrupt: \(lines.count < limit ? "" : "at least ")"
        + NumberText.counted(lines.count, "problem"),
      nextStep: "recover the rows with `cdprof doctor FILE --repair OUT`; if only indexes are "
        + "corrupt, REINDEX repairs them in a copy")
  }
}

/// Reads a store's metadata in `Z_METADATA`, and detects problems in it.
struct MetadataCheck {
  private(set) var uuid: String?
  private(set) var isMadeHere = false
  private(set) var findings: [DoctorFinding] = []

  /// Reads the table.
  ///
  /// **Cost:** two SELECTs.
  init(reading connection: Connection) throws {
    guard
      let row = try HousekeepingTables.row(
        "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA", on: connection)
    else {
      report("the table Z_METADATA is empty, so the store can't be opened")
      return
    }
    let counted = try connection.values("SELECT COUNT(*) FROM Z_METADATA")
    if case .integer(let count)? = counted.first?.first, count > 1 {
      report("the table Z_METADATA has \(count) rows instead of one")
    }
    if case .text(let uuid) = row[1], !uuid.isEmpty {
      self.uuid = uuid
    } else {
      report("the store has no UUID, which is part of its objects' URIs")
    }
    guard case .blob(let bytes) = row[2] else {
      report("the metadata has no property list")
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      report("the property list of the metadata can't be read")
      return
    }
    isMadeHere = values["cdprof.persistenceFramework"] != nil
    guard let hashes = values["NSStoreModelVersionHashes"] as? [String: Data], !hashes.isEmpty
    else {
      report("the metadata has no version hashes, so no model matches the store")
      return
    }
  }

  /// Returns the finding for a column that a table of Core Data's own lacks.
  static func finding(missing column: String, in table: String) -> DoctorFinding {
    DoctorFinding(
      table == HousekeepingTables.metadata ? .metadata : .entityList, table: table,
      "the table \(table) has no column \(column), so the store can't be opened",
      nextStep: "restore the table from a backup of the same store")
  }

  private mutating func report(_ message: String) {
    findings.append(
      DoctorFinding(
        .metadata, table: "Z_METADATA", message,
        nextStep: "restore the row from a backup of the same store"))
  }
}

/// Creates findings for a store's model that can't be read or doesn't match the tables.
enum ModelCheck {
  static func finding(unread problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, table: "Z_MODELCACHE", examples: [problem],
      "the store's model can't be read",
      nextStep: "open the store with its app on an Apple platform: Core Data rewrites the model")
  }

  static func finding(mismatch problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, examples: [problem], "the store's own model doesn't match its tables",
      nextStep: "check whether a migration was interrupted, and restore the store from a backup")
  }
}
