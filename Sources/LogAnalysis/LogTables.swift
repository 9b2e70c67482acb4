package import OpenCoreData

/// Which entity's rows a table of a log has, by a model.
package struct LogTables {
  private let model: SQLModel

  /// Lays the model out as Core Data does.
  package init(_ model: NSManagedObjectModel) {
    self.model = SQLModel(model: model)
  }

  /// The entity at the root of a table; nil for a table of links, and for one that is not the
  /// model's.
  package func entity(of table: String) -> String? {
    let table = table.uppercased()
    return model.entities.first { $0.table.uppercased() == table && $0.superentity == nil }?.name
  }

  /// The table that has an entity's rows; nil for a name that is not the model's.
  package func table(of entity: String) -> String? {
    model.entity(named: entity)?.table
  }
}
