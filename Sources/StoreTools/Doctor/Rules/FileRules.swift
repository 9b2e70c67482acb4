import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// What `Z_PRIMARYKEY` says of the entities, against itself and against the model.
///
/// Names are not compared: the table may have an entity's former one.
struct EntityListRule: DoctorRule {
  private struct Listed {
    let number: Int64
    let name: String
    let parent: Int64
  }

  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let listed = try store.connection.values(
      "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT "
        + "LIMIT \(SQLNames.largestEntityList)"
    ).compactMap { row -> Listed? in
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else { return nil }
      if case .integer(let parent) = row[2] {
        return Listed(number: number, name: name, parent: parent)
      }
      return Listed(number: number, name: name, parent: 0)
    }
    return twice(listed) + circles(listed)
      + (store.anatomy.source.isGuessed ? [] : otherParents(listed, store.mapping))
  }

  private func twice(_ listed: [Listed]) -> [DoctorFinding] {
    Dictionary(grouping: listed, by: \.name).filter { $0.value.count > 1 }
      .sorted { $0.key < $1.key }
      .map { name, entries in
        finding(
          entries,
          "\(name) is listed \(entries.count) times in Z_PRIMARYKEY: which number its "
            + "rows have is unknown", "delete the rows whose Z_ENT isn't an entity of the table")
      }
  }

  private func circles(_ listed: [Listed]) -> [DoctorFinding] {
    let parents = Dictionary(listed.map { ($0.number, $0.parent) }) { first, _ in first }
    let lost = listed.filter { entity in
      var (number, steps) = (entity.number, 0)
      while number != 0, steps <= listed.count {
        number = parents[number] ?? 0
        steps += 1
      }
      return number != 0
    }
    guard !lost.isEmpty else { return [] }
    return [
      finding(
        lost, "Z_SUPER makes \(lost.map(\.name).joined(separator: ", ")) their own parents",
        "set Z_SUPER to the number of the parent, 0 for none")
    ]
  }

  private func otherParents(_ listed: [Listed], _ mapping: SQLModel) -> [DoctorFinding] {
    listed.compactMap { entry in
      guard let entity = mapping.entity(number: Int(clamping: entry.number)) else { return nil }
      let parent = entity.superentity
      guard entry.parent != Int64(parent?.number ?? 0) else { return nil }
      return finding(
        [entry],
        "\(entity.name) is below entity \(entry.parent) in Z_PRIMARYKEY, and below "
          + (parent.map { "\($0.number), \($0.name)," } ?? "none") + " in the model",
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

/// SQLite's own check of pages, records and indexes.
enum IntegrityCheck {
  /// Reads the whole file.
  static func findings(on connection: Connection) throws -> [DoctorFinding] {
    let lines: [String]
    do {
      // Core Data writes no CHECK constraints, and those of others can compute anything.
      try connection.execute("PRAGMA ignore_check_constraints = 1")
      lines = try connection.values("PRAGMA integrity_check(20)").compactMap { row in
        if case .text(let line)? = row.first, line != "ok" { line } else { nil }
      }
    } catch {
      return [finding([error.message])]
    }
    return lines.isEmpty ? [] : [finding(lines)]
  }

  static func finding(_ lines: [String]) -> DoctorFinding {
    DoctorFinding(
      .integrity, count: lines.count, examples: lines,
      "SQLite finds the file damaged: \(NumberText.counted(lines.count, "fault"))",
      nextStep: "work on a copy: `sqlite3 FILE .recover` saves what can be read; an index is "
        + "mended by REINDEX")
  }
}

/// What a store says of itself in `Z_METADATA`, as far as it can be read.
struct MetadataCheck {
  private(set) var uuid: String?
  private(set) var isMadeHere = false
  private(set) var findings: [DoctorFinding] = []

  /// Reads the table.
  ///
  /// Two statements.
  init(reading connection: Connection) throws {
    guard
      let row = try HousekeepingTables.row(
        "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA", on: connection)
    else {
      report("the table Z_METADATA is empty, so that no framework opens the store")
      return
    }
    let counted = try connection.values("SELECT COUNT(*) FROM Z_METADATA")
    if case .integer(let count)? = counted.first?.first, count > 1 {
      report("the table Z_METADATA has \(count) rows instead of one")
    }
    if case .text(let uuid) = row[1], !uuid.isEmpty {
      self.uuid = uuid
    } else {
      report("the store has no UUID, of which the URIs of its objects are made")
    }
    guard case .blob(let bytes) = row[2] else {
      report("the metadata has no property list")
      return
    }
    guard let values = PropertyList.read(bytes) as? [String: Any] else {
      report("the property list of the metadata cannot be read")
      return
    }
    isMadeHere = values["cdprof.persistenceFramework"] != nil
    guard let hashes = values["NSStoreModelVersionHashes"] as? [String: Data], !hashes.isEmpty
    else {
      report("the metadata has no version hashes, so that no model fits the store")
      return
    }
  }

  private mutating func report(_ message: String) {
    findings.append(
      DoctorFinding(
        .metadata, table: "Z_METADATA", message,
        nextStep: "take the row from a backup of the same store"))
  }
}

/// Whether the model inside a store can be read and fits its tables.
enum ModelCheck {
  static func finding(unread problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, table: "Z_MODELCACHE", examples: [problem],
      "the model inside the store cannot be read",
      nextStep: "Apple's framework writes it again when the app opens the store with its own model")
  }

  static func finding(mismatch problem: String) -> DoctorFinding {
    DoctorFinding(
      .model, examples: [problem], "the store's own model does not fit its tables",
      nextStep: "check whether a migration was interrupted, and restore the store from a backup")
  }
}
