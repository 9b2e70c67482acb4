import ManagedModel

extension NSManagedObjectModel {
  /// The index that a fetch index of the model would be in a store: `Z_Mood_byDate`.
  ///
  /// The model itself stays as it is.
  /// - Parameters:
  ///   - name: the fetch index's name.
  ///   - keys: attributes and to-one relationships of the entity, the most significant first.
  ///   - predicate: what a row must fulfil to be in the index; nil for all rows.
  /// - Returns: nil when the entity is unknown, a key has no column, or SQL cannot say the predicate.
  package func storeIndex(
    named name: String, ofEntity entity: String, keys: [(name: String, isAscending: Bool)],
    where predicate: NSPredicate?
  ) -> SchemaIndex? {
    let model = SQLModel(model: self)
    guard let entity = model.entities.first(where: { $0.name == entity }) else { return nil }
    var condition: String?
    if let predicate {
      guard let sql = IndexCondition(entity: entity).sql(predicate) else { return nil }
      condition = sql
    }
    return SchemaBuilder(model: model).index(
      named: name, of: entity, keys.map { ($0.name, $0.isAscending) }, where: condition)
  }

  /// The names of all indexes that a new store of the model has, those of relationships and constraints
  /// among them.
  package var storeIndexNames: [String] {
    SchemaBuilder(model: SQLModel(model: self)).indexes.map(\.name)
  }

  /// The name that a fetch index has in a store: `Z_Mood_byDate`.
  package static func storeIndexName(_ name: String, ofEntity entity: String) -> String {
    "Z_\(entity)_\(name)"
  }
}
