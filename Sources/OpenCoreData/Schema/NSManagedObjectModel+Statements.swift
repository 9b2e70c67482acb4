import ManagedModel

extension NSManagedObjectModel {
  /// The statements that create a store of the model, in the order in which they are run.
  ///
  /// They are those of `addPersistentStore` for a new file, without the rows that follow them.
  ///
  /// - Throws: Everything that `validate()` finds: such a model has no tables.
  package func creationStatements() throws(ModelErrors) -> [String] {
    let problems = validate()
    guard problems.isEmpty else { throw ModelErrors(problems) }
    return SchemaBuilder(model: SQLModel(model: self)).statements
  }
}
