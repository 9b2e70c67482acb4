extension NSManagedObjectModel {
  /// Checks that the model hangs together.
  ///
  /// Looks for missing and repeated names, relationships that lead nowhere or out of the model,
  /// inverses that do not match, impossible counts, missing types, default values that do not fit,
  /// and unknown names in constraints and indexes.
  ///
  /// Stops after some hundreds of errors.
  ///
  /// - Returns: What is wrong, in the order of the entities; empty for a sound model.
  package func validate() -> [ModelError] {
    var errors: [ModelError] = []
    var names: Set<String> = []
    for entity in entities {
      guard errors.count < ModelLimits.errors else { break }
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
      errors += EntityCheck(entity, in: self).errors
    }
    return errors
  }
}
