import ManagedModel

/// Objects, or an object and a row, that have the same values where a constraint wants them unique.
///
/// Apple counterpart: the same; the book's chapter 11.
open class NSConstraintConflict: NSObject {
  /// The names of the constrained properties.
  public let constraint: [String]
  /// The values that are there more than once, by property.
  public let constraintValues: [String: Any]
  /// The object of the stored row; nil when the objects of the save collide among themselves.
  public let databaseObject: NSManagedObject?
  /// The stored row's values, by property.
  public let databaseSnapshot: [String: Any]?
  /// The objects of the save that cannot be written.
  public let conflictingObjects: [NSManagedObject]
  /// The last saved values of each conflicting object, in their order; empty for a new one.
  public let conflictingSnapshots: [[String: Any]]

  /// Describes a conflict over one set of values.
  public init(
    constraint contraints: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [String: Any]?, conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [[String: Any]]
  ) {
    constraint = contraints
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots
    var values: [String: Any] = [:]
    for name in contraints {
      values[name] = conflictingObjects.first?.value(forKey: name) ?? NSNull()
    }
    constraintValues = values
  }

  /// The constraint, its values and the objects.
  open override var description: String {
    let values = constraint.map { "\($0) = \(constraintValues[$0] ?? "nil")" }
    let objects = conflictingObjects.map { "\($0.objectID)" }.joined(separator: ", ")
    let stored = databaseObject.map { ", stored in \($0.objectID)" } ?? ""
    return "NSConstraintConflict over \(values.joined(separator: ", ")): \(objects)\(stored)"
  }
}
