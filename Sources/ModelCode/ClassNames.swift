import ManagedModel

/// The Swift class names of a model's entities.
///
/// If no entity of a model specifies a class, each one gets a class with the name of the entity.
struct ClassNames {
  /// A Boolean value that indicates whether the classes are named after the entities because the
  /// model specifies none.
  let areAssigned: Bool

  init(_ model: NSManagedObjectModel) {
    areAssigned = model.entities.allSatisfy { ClassNames.given($0) == nil }
  }

  /// Returns the class name of an entity, or `nil` if its objects are plain managed objects.
  subscript(entity: NSEntityDescription) -> String? {
    guard areAssigned else { return ClassNames.given(entity) }
    return entity.name.map { SwiftNames.types.contains($0) ? $0 + "Object" : $0 }
  }

  /// Returns the last component of the class name in the model, such as of `Shop.Order`.
  private static func given(_ entity: NSEntityDescription) -> String? {
    guard let full = entity.managedObjectClassName, full != "NSManagedObject" else { return nil }
    let name = full.split(separator: ".").last.map(String.init) ?? ""
    return name.isEmpty ? nil : name
  }
}
