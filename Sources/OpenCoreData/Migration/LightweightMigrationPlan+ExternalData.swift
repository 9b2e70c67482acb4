import ManagedModel
import SQLiteDriver

// External data files of values that the new version doesn't have.

extension LightweightMigrationPlan {
  /// Returns the external data files to which only removed values refer.
  ///
  /// They can be removed after the migration. Cost: one SELECT for each attribute with external storage that
  /// is removed, or whose objects are.
  /// - Parameter connection: A connection to the file before the migration.
  func lostFiles(on connection: Connection) throws -> [ExternalFile] {
    var files: [ExternalFile] = []
    for entity in source.entities {
      for column in entity.ownColumns where column.property.isExternal {
        let losers = entity.family.filter { !keeps(column.property.name, of: $0) }
        guard !losers.isEmpty else { continue }
        let name = SQLNames.quoted(column.name)
        let statement = try connection.statement(
          "SELECT \(name) FROM \(SQLNames.quoted(entity.table)) "
            + "WHERE substr(\(name), 1, 1) = x'02' AND Z_ENT IN (\(Self.list(losers)))")
        defer { statement.reset() }
        while try statement.step() {
          if case .blob(let bytes) = statement.value(0),
            let file = ExternalFile(reference: Data(bytes))
          {
            files.append(file)
          }
        }
      }
    }
    return files
  }

  /// Returns whether the objects of a source entity have an attribute's values after the migration.
  private func keeps(_ name: String, of entity: SQLEntity) -> Bool {
    guard let later = laterEntity(of: entity) else { return false }
    return later.columns.contains { formerName(of: $0.property.name, in: later) == name }
  }
}

extension NSPropertyDescription {
  fileprivate var isExternal: Bool {
    (self as? NSAttributeDescription)?.allowsExternalBinaryDataStorage ?? false
  }
}
