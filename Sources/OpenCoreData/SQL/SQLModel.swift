package import ManagedModel
package import SQLiteDriver

/// A model laid onto the tables of a file.
///
/// Held by the store for as long as it is open. Everything is computed when it is made.
package final class SQLModel: @unchecked Sendable {
  // Unchecked: nothing changes after `init`.

  /// The model that is laid out.
  package let model: NSManagedObjectModel

  /// The entities by ascending number.
  package let entities: [SQLEntity]

  private let byNumber: [Int: SQLEntity]
  private let byDescription: [ObjectIdentifier: SQLEntity]
  private let byName: [String: SQLEntity]

  /// Lays out a model, or a configuration of it, by Apple's rules, as for a new file.
  package convenience init(model: NSManagedObjectModel, configuration: String? = nil) {
    do {
      try self.init(model: model, configuration: configuration, file: nil)
    } catch {
      preconditionFailure("A layout made by rule cannot miss anything: \(error)")
    }
  }

  /// Lays out a model, or a configuration of it, on the tables that a file has.
  ///
  /// Entities are matched by name, then by renaming identifier, then by position. Two statements.
  ///
  /// - Parameter ignoresMissing: Whether a table or column that the file lacks gets its name by rule: a
  ///   statement that needs it fails then.
  /// - Throws: `SchemaMismatch` for a table or column that the model wants and the file lacks;
  ///   `SQLiteError` when the schema cannot be read.
  package convenience init(
    model: NSManagedObjectModel, configuration: String? = nil, connection: Connection,
    ignoresMissing: Bool = false
  ) throws {
    try self.init(
      model: model, configuration: configuration, file: FileSchema(reading: connection),
      ignoresMissing: ignoresMissing)
  }

  /// Lays out a model on a file's schema, or by rule when there is no file.
  init(
    model: NSManagedObjectModel, configuration: String? = nil, file: FileSchema?,
    ignoresMissing: Bool = false
  ) throws(SchemaMismatch) {
    var builder = SQLModelBuilder(
      model: model, configuration: configuration, file: file, ignoresMissing: ignoresMissing)
    let entities = try builder.build()
    self.model = model
    self.entities = entities.sorted { $0.number < $1.number }
    byNumber = Dictionary(
      entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    byDescription = Dictionary(
      entities.map { (ObjectIdentifier($0.description), $0) },
      uniquingKeysWith: { first, _ in first })
    byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entity of a description of this model, or of the same name in an equal model; nil for one
  /// that another store holds.
  func held(_ description: NSEntityDescription) -> SQLEntity? {
    byDescription[ObjectIdentifier(description)] ?? description.name.flatMap { byName[$0] }
  }

  /// The entity of a description; traps for one that `held` does not know.
  package func entity(for description: NSEntityDescription) -> SQLEntity {
    guard let entity = held(description) else {
      preconditionFailure(
        "The entity \(description.name ?? "without a name") is not in the model of this store.")
    }
    return entity
  }

  /// The entity of that `Z_ENT`.
  package func entity(number: Int) -> SQLEntity? { byNumber[number] }

  /// The entity of that name in the model.
  package func entity(named name: String) -> SQLEntity? { byName[name] }
}
