/// Core Data's names for tables, columns, and indexes.
package enum SQLNames {
  /// The column of the primary key, which every table of entities has.
  package static let primaryKey = "Z_PK"
  /// The column of the entity ID.
  package static let entity = "Z_ENT"
  /// The column of the row's version, which optimistic locking compares.
  package static let version = "Z_OPT"
  /// The columns that every table of entities has.
  package static let rowColumns: Set = [primaryKey, entity, version]

  /// Returns the table of a root entity, or the column of a property: `ZMOOD`, `ZUPDATEDAT`; for an
  /// element of a composite attribute `ZADDRESS_CITY`.
  package static func plain(_ name: String) -> String {
    "Z" + spelled(name)
  }

  /// Returns a name in uppercase; the periods of a path become underscores.
  private static func spelled(_ name: String) -> String {
    let uppercase = name.uppercased()
    guard uppercase.utf8.contains(UInt8(ascii: ".")) else { return uppercase }
    return String(uppercase.map { $0 == "." ? "_" : $0 })
  }

  /// Returns the column with the concrete entity of a to-one's destination: `Z3_OWNER`.
  package static func concreteEntity(_ number: Int, _ name: String) -> String {
    "Z\(number)_" + name.uppercased()
  }

  /// Returns the column with the order key in an ordered one-to-many: `Z_FOK_OWNER`.
  package static func order(_ name: String) -> String {
    "Z_FOK_" + name.uppercased()
  }

  /// Returns the column for a to-many without an inverse: `Z2ITEMS`, in the destination's table.
  package static func hiddenInverse(_ number: Int, _ name: String) -> String {
    "Z\(number)" + name.uppercased()
  }

  /// Returns a join table, or a join table's column: `Z_1TAGS`.
  package static func join(_ number: Int, _ name: String) -> String {
    "Z_\(number)" + name.uppercased()
  }

  /// Returns the column with the order key in an ordered many-to-many, from the join column:
  /// `Z_FOK_2TAGS`.
  package static func joinOrder(_ joinColumn: String) -> String {
    "Z_FOK_" + joinColumn.dropFirst(2)
  }

  /// Returns a name with ASCII letters in lowercase, the only ones whose case SQLite ignores.
  package static func folded(_ name: String) -> String {
    String(
      decoding: name.utf8.map {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
      },
      as: UTF8.self)
  }

  /// Claims and returns a name, or the first unused numbered one.
  package static func take(_ name: String, from taken: inout Set<String>) -> String {
    let free = free(name) { taken.contains($0) }
    taken.insert(free)
    return free
  }

  /// Returns a name, or, if it's used, the first unused of `NAME1`, `NAME2` ….
  package static func free(_ name: String, unless isTaken: (String) -> Bool) -> String {
    var free = name
    var suffix = 1
    while isTaken(free) {
      free = "\(name)\(suffix)"
      suffix += 1
    }
    return free
  }
}

extension NSManagedObjectModel {
  /// Returns the entities in the order of their IDs: roots by name, each followed by its
  /// descendants.
  ///
  /// The first entity has ID 1. A configuration's entities include their ancestors, whose columns
  /// their rows have.
  /// - Parameter configuration: `nil` for all; empty result for one that isn't in the model.
  package func entitiesInNumberingOrder(of configuration: String? = nil) -> [NSEntityDescription] {
    func withDescendants(_ entity: NSEntityDescription) -> [NSEntityDescription] {
      [entity] + entity.numberedSubentities.flatMap(withDescendants)
    }
    let all = NSEntityDescription.inNumberingOrder(entities.filter { $0.superentity == nil })
      .flatMap(withDescendants)
    guard configuration != nil else { return all }
    var wanted: Set<ObjectIdentifier> = []
    for entity in entities(forConfigurationName: configuration) ?? [] {
      var next: NSEntityDescription? = entity
      while let entity = next {
        wanted.insert(ObjectIdentifier(entity))
        next = entity.superentity
      }
    }
    return all.filter { wanted.contains(ObjectIdentifier($0)) }
  }
}
