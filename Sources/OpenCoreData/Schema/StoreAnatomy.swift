import ManagedModel
package import SQLiteDriver

/// How a store's file is built: its model laid onto its tables, and what the model asks for beside.
package struct StoreAnatomy: Sendable {
  /// The model, and whether it is the store's own.
  package let source: StoreModel
  /// The model on the tables of the file.
  package let mapping: SQLModel
  /// The indexes that the model asks for, by the names that new files give them.
  package let indexes: [SchemaIndex]
  /// The R-trees that the model asks for.
  package let rangeIndexes: [RangeIndex]
  /// The derived attributes that can be computed from the rows.
  package let derivedColumns: [DerivedColumn]

  /// Reads a store's own model, or makes one of its tables, and lays it out.
  ///
  /// Cost: the schema and the model; without a model some SELECTs a table.
  /// - Throws: `SchemaMismatch` when the store's own model wants what the file lacks; `SQLiteError`.
  package init(reading connection: Connection) throws {
    source = try StoreModel(reading: connection)
    mapping = try SQLModel(model: source.model, connection: connection)
    let builder = SchemaBuilder(model: mapping)
    indexes = builder.indexes
    rangeIndexes = builder.rangeIndexes
    derivedColumns = builder.derivedColumns
  }
}
