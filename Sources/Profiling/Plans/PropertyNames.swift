import OpenCoreData
import SQLiteDriver
import StatementAnalysis

/// Maps the columns of a store to properties, using the model that the store contains.
struct PropertyNames {
  private let anatomy: StoreAnatomy?

  init(_ connection: Connection) {
    let anatomy = try? StoreAnatomy(reading: connection)
    // An inferred model's names aren't those of the user's model.
    self.anatomy = anatomy?.source.isInferred == false ? anatomy : nil
  }

  /// Returns an entity of a table that has all given columns, and the properties of these columns.
  ///
  /// A root entity comes first, then the preferred one, then the others.
  ///
  /// - Parameter preferred: The name of the entity that the statement was executed for.
  func names(
    of columns: [String], in table: String, preferring preferred: String?
  ) -> (entity: String, properties: [String])? {
    let entities = (anatomy?.mapping.entities ?? []).filter {
      $0.table.uppercased() == table.uppercased()
    }
    let sorted =
      entities.filter { $0.superentity == nil } + entities.filter { $0.superentity != nil }
    let first = sorted.filter { $0.name == preferred }
    for entity in sorted.prefix(1) + first + sorted {
      let properties = columns.compactMap { column in
        entity.columns.first { $0.name.uppercased() == column.uppercased() }?.property.name
      }
      if properties.count == columns.count { return (entity.name, properties) }
    }
    return nil
  }

  /// Returns whether a fetch index of a model can describe an index, which requires that all
  /// columns belong to properties of one entity.
  ///
  /// `Z_PK`, `Z_ENT`, `Z_OPT`, order keys, and the columns with a destination's entity ID don't
  /// belong to a property, and join tables and history tables don't belong to an entity.
  func canDescribe(_ index: IndexCandidate) -> Bool {
    let columns = index.parts.map { $0.column.uppercased() }
    if anatomy != nil {
      return names(of: columns, in: index.table, preferring: nil) != nil
    }
    let isEntity = index.table.wholeMatch(of: /[Zz][^_].*/) != nil
    return isEntity
      && columns.allSatisfy { $0.wholeMatch(of: /Z(_PK|_ENT|_OPT|_FOK_.*|\d+_.*)/) == nil }
  }

  /// Returns a name that no index of the entity has: the given name, with a number appended if it's
  /// taken.
  func unusedIndexName(_ name: String, in entity: String?) -> String {
    guard let entity, let description = anatomy?.source.model.entitiesByName[entity] else {
      return name
    }
    let taken = Set(description.indexes.map { $0.name.uppercased() })
    guard taken.contains(name.uppercased()) else { return name }
    let free = (2...taken.count + 2).first { !taken.contains("\(name)\($0)".uppercased()) }
    return free.map { "\(name)\($0)" } ?? name
  }

  /// Returns whether the framework creates the index automatically, for a relationship or for
  /// `Z_ENT`.
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
