// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The variable of the migration manager in the expressions of a mapping model.
public let NSMigrationManagerKey = "manager"
/// The variable of the source instance.
public let NSMigrationSourceObjectKey = "source"
/// The variable of the destination instance.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of the migration policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// The expressions that Xcode's mapping-model compiler writes.
package enum MappingExpression {
  /// The selector of the manager's method that returns a fetch request.
  package static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
  /// The selector for the destination instances that a mapping created.
  package static let instancesOfMapping =
    "destinationInstancesForEntityMappingNamed:sourceInstances:"
  /// The selector for the destination instances that any mapping created.
  package static let instancesOfRelationship =
    "destinationInstancesForSourceRelationshipNamed:sourceInstances:"

  /// Returns `$source.keyPath`.
  package static func source(_ keyPath: String) -> NSExpression {
    path(NSMigrationSourceObjectKey, keyPath)
  }

  /// Returns the fetch of all instances of a source entity.
  package static func fetch(_ entity: String) -> NSExpression {
    let request = NSExpression(
      .method(
        variable(NSMigrationManagerKey), fetchRequest,
        [
          NSExpression(forConstantValue: entity), NSExpression(forConstantValue: "TRUEPREDICATE"),
        ]))
    let context = path(NSMigrationManagerKey, "sourceContext")
    return NSExpression(.fetch(request, context: context, countOnly: false))
  }

  /// Returns the destination instances that a mapping created for source instances.
  package static func instances(ofMapping name: String, _ sources: NSExpression) -> NSExpression {
    NSExpression(
      .method(
        variable(NSMigrationManagerKey), instancesOfMapping,
        [NSExpression(forConstantValue: name), sources]))
  }

  /// Returns the destination instances of a source relationship, regardless of which mapping
  /// created them.
  package static func instances(ofRelationship name: String) -> NSExpression {
    NSExpression(
      .method(
        variable(NSMigrationManagerKey), instancesOfRelationship,
        [NSExpression(forConstantValue: name), source(name)]))
  }

  /// Returns an expression for a key path that begins with a variable, such as `$source.country`.
  ///
  /// - Returns: `nil` if the text doesn't begin with a variable.
  static func ofText(_ text: String) -> NSExpression? {
    guard text.hasPrefix("$"), text.dropFirst().first?.isLetter == true else { return nil }
    guard let period = text.firstIndex(of: ".") else { return variable(String(text.dropFirst())) }
    return path(
      String(text[text.index(after: text.startIndex)..<period]),
      String(text[text.index(after: period)...]))
  }

  private static func variable(_ name: String) -> NSExpression {
    NSExpression(forVariable: name)
  }

  private static func path(_ name: String, _ keyPath: String) -> NSExpression {
    NSExpression(.path(variable(name), NSExpression(.keyPath(PredicateKeyPath(keyPath)))))
  }
}
