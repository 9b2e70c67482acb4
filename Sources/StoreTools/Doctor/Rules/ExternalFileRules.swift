import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// Detects external data files that are missing, can't be read, or are unreferenced.
struct ExternalFileRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    let storage = ExternalStorage(storeURL: store.url)
    let present = try storage.fileNames()
    var (owned, findings) = (Set<String>(), [DoctorFinding]())
    for (entity, column) in store.columns {
      guard let attribute = column.property as? NSAttributeDescription,
        mayBeExternal(attribute, store)
      else { continue }
      let references = try Self.references(in: column, of: entity, store)
      owned.formUnion(references.map(\.file))
      let problems = storage.problems(ofFilesNamed: Set(references.map(\.file)))
      findings += unreadable(references, for: problems, of: attribute, entity, storage)
      // A link or a folder is there, but isn't a regular file.
      let missing = references.filter { !present.contains($0.file) && problems[$0.file] == nil }
      // Without a model, bytes that look like a file name might be a value of the app.
      guard !missing.isEmpty, !store.anatomy.source.isInferred || !present.isEmpty else { continue }
      findings.append(
        DoctorFinding(
          .externalFileMissing, entity: entity.name, property: attribute.name, table: entity.table,
          count: missing.count, examples: missing.map { "\($0.file) of p\($0.key)" },
          "\(NumberText.counted(missing.count, "value")) of \(entity.name).\(attribute.name) "
            + "\(PluralForm.of(missing.count, "is", "are")) in an external data file that doesn't exist",
          nextStep: "copy the store together with its folder \(storage.folder.relativePath)"))
    }
    let unowned = present.subtracting(owned).sorted()
    guard !unowned.isEmpty else { return findings }
    return findings + [
      DoctorFinding(
        .externalFileUnowned, count: unowned.count, examples: unowned,
        "no row refers to \(NumberText.counted(unowned.count, "file")) in "
          + storage.folder.lastPathComponent,
        nextStep: "back them up and delete them; no object uses them")
    ]
  }

  private func unreadable(
    _ references: [(key: Int64, file: String)], for problems: [String: String],
    of attribute: NSAttributeDescription, _ entity: SQLEntity, _ storage: ExternalStorage
  ) -> [DoctorFinding] {
    let examples = references.compactMap { reference in
      problems[reference.file].map { "\(reference.file) of p\(reference.key): \($0)" }
    }
    guard !examples.isEmpty else { return [] }
    return [
      DoctorFinding(
        .externalFileUnreadable, entity: entity.name, property: attribute.name,
        table: entity.table, count: examples.count, examples: examples,
        "\(NumberText.counted(examples.count, "value")) of \(entity.name).\(attribute.name) "
          + "\(PluralForm.of(examples.count, "is", "are")) in an external data file that can't be read",
        nextStep: "check the permissions of the files in "
          + "\(storage.folder.relativePath), and compare their sizes with a backup")
    ]
  }

  private func mayBeExternal(_ attribute: NSAttributeDescription, _ store: ExaminedStore) -> Bool {
    attribute.allowsExternalBinaryDataStorage
      || (store.anatomy.source.isInferred && attribute.attributeType == .binaryDataAttributeType)
  }

  /// Returns the file names in a column, each with the primary key of its row.
  static func references(
    in column: SQLColumn, of entity: SQLEntity, _ store: ExaminedStore
  ) throws -> [(key: Int64, file: String)] {
    let name = SQLSyntax.quoted(column.name)
    return try store.connection.values(
      "SELECT Z_PK, \(name) FROM \(SQLSyntax.quoted(entity.table)) WHERE typeof(\(name)) = 'blob' "
        + "AND length(\(name)) IN (37, 38) AND substr(\(name), 1, 1) = x'02'"
    ).compactMap { row in
      guard case .integer(let key) = row[0], case .blob(let bytes) = row[1],
        let file = ExternalStorage.fileName(in: bytes)
      else { return nil }
      return (key, file)
    }
  }
}

/// Detects values with an invalid external-storage marker.
///
/// In an attribute that allows external storage, the first byte is 1 for a value in the row and 2
/// for the name of an external data file. A value with another first byte is returned unchanged; it
/// might be from before the attribute allowed external storage.
struct ExternalPrefixRule: DoctorRule {
  func findings(in store: ExaminedStore) throws -> [DoctorFinding] {
    guard !store.anatomy.source.isInferred else { return [] }
    return try store.columns.compactMap { entity, column in
      guard let attribute = column.property as? NSAttributeDescription,
        attribute.allowsExternalBinaryDataStorage
      else { return nil }
      let name = SQLSyntax.quoted(column.name)
      // A file name is a UUID; Core Data on Apple platforms adds a NUL.
      let rows = try store.keys(
        "SELECT Z_PK FROM \(SQLSyntax.quoted(entity.table)) WHERE typeof(\(name)) = 'blob' "
          + "AND length(\(name)) > 0 AND substr(\(name), 1, 1) <> x'01' "
          + "AND NOT (substr(\(name), 1, 1) = x'02' AND length(\(name)) IN (37, 38))")
      guard rows.count > 0 else { return nil }
      return DoctorFinding(
        .externalPrefix, entity: entity.name, property: attribute.name, table: entity.table,
        count: rows.count, examples: store.uris(rows.keys, of: entity.name),
        "\(NumberText.counted(rows.count, "value")) of \(entity.name).\(attribute.name) "
          + "\(PluralForm.of(rows.count, "has", "have")) an invalid external-storage marker (the first byte "
          + "must be 1, or 2 before a file name)",
        nextStep: "compare them with a backup, and set them again through the framework")
    }
  }
}
