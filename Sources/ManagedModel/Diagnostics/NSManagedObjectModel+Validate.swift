extension NSManagedObjectModel {
  /// Checks that the model hangs together.
  ///
  /// Looks for missing and repeated names, relationships that lead nowhere or out of the model,
  /// inverses that do not match, impossible counts, missing types, default values that do not fit,
  /// and unknown names in constraints and indexes.
  ///
  /// Stops after some hundreds of errors; after as many warnings there are no more of those.
  ///
  /// - Returns: What is wrong, in the order of the entities; empty for a sound model. Warnings are
  ///   what a store of the model can live with.
  package func validate() -> [ModelError] {
    var errors: [ModelError] = []
    var warnings = 0
    var names: Set<String> = []
    for entity in entities {
      guard errors.count - warnings < ModelLimits.errors else { break }
      guard let name = entity.name, !name.isEmpty else {
        errors.append(ModelError("An entity has no name.", nextStep: "Give it one."))
        continue
      }
      if !names.insert(name).inserted {
        errors.append(
          ModelError(
            "There are two entities named \(name).", nextStep: "Rename one of them.",
            entity: name))
      }
      let found = EntityCheck(entity, in: self, warns: warnings < ModelLimits.errors).errors
      warnings += found.count(where: \.isWarning)
      errors += found
    }
    return errors
  }

  /// What is wrong with the model as it was read: its reader's warnings, and what `validate()` finds
  /// beside them.
  package var problems: [ModelError] {
    let others = validate()
    return readerWarnings
      + others.filter { error in !readerWarnings.contains { $0.covers(error) } }
  }
}
