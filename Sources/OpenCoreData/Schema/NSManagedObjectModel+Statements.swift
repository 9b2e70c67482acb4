import ManagedModel

extension NSManagedObjectModel {
  /// The statements that create a store of the model, in the order in which they are run.
  ///
  /// They are those of `addPersistentStore` for a new file, without the rows that follow them.
  ///
  /// - Throws: The errors that `validate()` finds, without its warnings: such a model has no tables.
  package func creationStatements() throws(ModelErrors) -> [String] {
    let errors = validate().filter { !$0.isWarning }
    guard errors.isEmpty else { throw ModelErrors(errors) }
    return SchemaBuilder(model: SQLModel(model: self)).statements
  }
}
