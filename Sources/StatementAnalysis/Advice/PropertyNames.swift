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

  /// Whether a fetch index of a model can be this one: each of its columns is a property of one entity.
  ///
  /// `Z_PK`, `Z_ENT`, `Z_OPT`, order keys, and the columns with a destination's entity ID are no
  /// property's, and the tables of links and of the history are no entity's.
  func canDescribe(_ index: IndexCandidate) -> Bool {
    let columns = index.parts.map { $0.column.uppercased() }
    if anatomy != nil {
      return names(of: columns, in: index.table, preferring: nil) != nil
    }
    let isEntity = index.table.wholeMatch(of: /[Zz][^_].*/) != nil
    return isEntity
      && columns.allSatisfy { $0.wholeMatch(of: /Z(_PK|_ENT|_OPT|_FOK_.*|\d+_.*)/) == nil }
  }

  /// A name that no index of the entity has yet: the given one, or that with a number.
  func unusedIndexName(_ name: String, in entity: String?) -> String {
    guard let entity, let description = anatomy?.source.model.entitiesByName[entity] else {
      return name
    }
    let taken = Set(description.indexes.map { $0.name.uppercased() })
    guard taken.contains(name.uppercased()) else { return name }
    let free = (2...taken.count + 2).first { !taken.contains("\(name)\($0)".uppercased()) }
    return free.map { "\(name)\($0)" } ?? name
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
