import ManagedModel

/// The class that each entity of a model has in Swift.
///
/// A model in which no entity has one gets a class for each, called as the entity.
struct ClassNames {
  /// Whether the classes are called after entities that name none.
  let areAssigned: Bool

  init(_ model: NSManagedObjectModel) {
    areAssigned = model.entities.allSatisfy { ClassNames.given($0) == nil }
  }

  /// The name; nil for an entity whose objects are plain ones.
  subscript(entity: NSEntityDescription) -> String? {
    guard areAssigned else { return ClassNames.given(entity) }
    return entity.name.map { SwiftNames.types.contains($0) ? $0 + "Object" : $0 }
  }

  /// The last part of the class name in the model, as of `Shop.Order`.
  private static func given(_ entity: NSEntityDescription) -> String? {
    guard let full = entity.managedObjectClassName, full != "NSManagedObject" else { return nil }
    let name = full.split(separator: ".").last.map(String.init) ?? ""
    return name.isEmpty ? nil : name
  }
}
