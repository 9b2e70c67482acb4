import OpenCoreData
import SQLiteDriver

/// The properties behind the columns of a store, by the model it carries.
struct PropertyNames {
  private let anatomy: StoreAnatomy?

  init(_ connection: Connection) {
    let anatomy = try? StoreAnatomy(reading: connection)
    // A guessed model's names are no names of the user's model.
    self.anatomy = anatomy?.source.isGuessed == false ? anatomy : nil
  }

  /// The entity of a table that has all the columns, the highest one first, with their properties.
  ///
  /// - Parameter preferred: The entity the statement was run for; taken when it has them all.
  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? {
    let entities = (anatomy?.mapping.entities ?? []).filter { $0.table == table }
    let sorted =
      entities.filter { $0.superentity == nil } + entities.filter { $0.superentity != nil }
    let first = sorted.filter { $0.name == preferred }
    for entity in sorted.prefix(1) + first + sorted {
      let properties = columns.compactMap { column in
        entity.columns.first { $0.name == column }?.property.name
      }
      if properties.count == columns.count { return (entity.name, properties) }
    }
    return nil
  }

  /// Whether the framework makes the index by itself, for a relationship or for `Z_ENT`.
  func isAutomatic(_ index: FileIndex) -> Bool {
    guard index.parts.count == 1, let column = index.parts.first?.column else { return false }
    if column == "Z_ENT" || index.table.hasPrefix("Z_") { return true }
    let entities = (anatomy?.mapping.entities ?? []).filter { $0.table.uppercased() == index.table }
    let isRelationship = entities.contains { entity in
      entity.columns.contains {
        $0.name.uppercased() == column && $0.property is NSRelationshipDescription
      }
    }
    return isRelationship || index.name.uppercased() == "\(index.table)_\(column)_INDEX"
  }
}
