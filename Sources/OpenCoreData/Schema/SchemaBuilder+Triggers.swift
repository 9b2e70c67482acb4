import ManagedModel

extension SchemaBuilder {
  /// The derived attributes of the model, each once, where it is declared.
  ///
  /// Those whose formula cannot be followed are left out.
  var derivedColumns: [DerivedColumn] {
    model.entities.flatMap { entity in
      entity.ownColumns.compactMap { DerivedColumn($0, of: entity, in: model) }
    }
  }

  /// The triggers that keep derived attributes right whoever writes to the file.
  ///
  /// Each computes the value anew for the rows that a change touches, and hands it to the function
  /// through which the framework learns of it.
  var triggers: [String] {
    derivedColumns.flatMap { column in
      DerivedTriggers(column).all
    }
  }
}
