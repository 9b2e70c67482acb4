import OpenCoreData
import PostgresDriver

package import class ManagedModel.NSManagedObjectModel

/// The properties of a model that the columns of its tables stand for.
package struct StoreNames {
  private let schema: StoreSchema

  /// Maps a model.
  ///
  /// - Throws: 134020 for a model that the store can't have.
  package init(_ model: NSManagedObjectModel) throws {
    schema = try StoreSchema(model.entities, schema: "public")
  }

  /// Returns the identifier of a name, which the server can keep: a long name is shortened, with a
  /// digest.
  package static func identifier(_ name: String) -> String {
    var names = NameAllocator()
    return names.identifier(name)
  }

  /// Returns an entity of a table whose properties have all columns, and these properties; a root
  /// entity first.
  package func properties(
    of columns: [String], in table: String
  ) -> (entity: String, properties: [String])? {
    for mapping in mappings(of: table) {
      let properties = columns.compactMap { property(of: $0, mapping) }
      if properties.count == columns.count { return (mapping.name, properties) }
    }
    return nil
  }

  /// Returns whether the store makes an index that begins with a column itself: a relationship, or
  /// a column that stands for no property.
  package func isOwn(_ column: String, in table: String) -> Bool {
    !mappings(of: table).contains { mapping in
      mapping.attributes.contains { Self.unquoted($0.name) == column }
    }
  }

  private func mappings(of table: String) -> [EntityMapping] {
    schema.entities.values.filter { mapping in
      mapping.table.name == "\(schema.name).\(QuotedIdentifier.of(table))"
    }.sorted { ($0.isWholeTable ? 0 : 1, $0.number) < ($1.isWholeTable ? 0 : 1, $1.number) }
  }

  private func property(of column: String, _ mapping: EntityMapping) -> String? {
    mapping.attributes.first { Self.unquoted($0.name) == column }?.keyPath
      ?? mapping.toOnes.first { Self.unquoted($0.column) == column }?.relationship?.name
  }

  private static func unquoted(_ name: String) -> String {
    String(name.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }
}
