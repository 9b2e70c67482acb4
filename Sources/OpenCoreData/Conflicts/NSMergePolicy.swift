// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel

// The constants of the predefined policies have Apple's names.

/// How a predefined policy settles conflicts.
///
/// Apple counterpart: the same.
public enum NSMergePolicyType: UInt, Sendable {
  /// Nothing is settled: the save throws.
  case errorMergePolicyType = 0
  /// Property by property; where both sides changed, the store's value stands.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Property by property; where both sides changed, the context's value stands.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// The context's object replaces the row, all its properties.
  case overwriteMergePolicyType = 3
  /// The context's changes of the objects in conflict are thrown away.
  case rollbackMergePolicyType = 4
}

/// Settles conflicts that a save meets, so that the save can go on.
///
/// A context has one. Subclasses override `resolve(optimisticLockingConflicts:)` and
/// `resolve(constraintConflicts:)`, call super first, and then change objects as they like; the save is
/// tried again once they return. Called on the context's queue. Apple counterpart: the same; the book's
/// chapter 11.
open class NSMergePolicy: NSObject {
  /// What this policy does where a subclass does nothing else.
  public let mergeType: NSMergePolicyType

  /// Throws error 133020 or 133021 for a conflict: the default of a context.
  public nonisolated(unsafe) static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// Throws the context's changes of the objects in conflict away; the rest is saved.
  public nonisolated(unsafe) static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  /// Writes the objects in conflict with all their properties, whatever the store has.
  public nonisolated(unsafe) static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// Merges property by property; the context's value stands where both sides changed.
  public nonisolated(unsafe) static let mergeByPropertyObjectTrump = NSMergePolicy(
    merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// Merges property by property; the store's value stands where both sides changed.
  public nonisolated(unsafe) static let mergeByPropertyStoreTrump = NSMergePolicy(
    merge: .mergeByPropertyStoreTrumpMergePolicyType)

  /// A policy that settles conflicts as a predefined one does.
  public init(merge ty: NSMergePolicyType) {
    mergeType = ty
    super.init()
  }

  /// Settles conflicts of both kinds.
  ///
  /// Where it cannot, it throws, and the save with it.
  open func resolve(mergeConflicts list: [Any]) throws {
    try settle(list.compactMap { $0 as? NSMergeConflict })
    try settle(list.compactMap { $0 as? NSConstraintConflict })
  }

  /// Settles rows that changed since their objects were read.
  ///
  /// - Throws: 133020 when the type is that of an error.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try resolve(mergeConflicts: list)
  }

  /// Settles objects and rows whose values must be unique and are not.
  ///
  /// - Throws: 133021 when the type is that of an error.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    try resolve(mergeConflicts: list)
  }
}

/// `NSMergePolicy.error` under its older name.
public nonisolated(unsafe) let NSErrorMergePolicy: NSMergePolicy = .error
/// `NSMergePolicy.rollback` under its older name.
public nonisolated(unsafe) let NSRollbackMergePolicy: NSMergePolicy = .rollback
/// `NSMergePolicy.overwrite` under its older name.
public nonisolated(unsafe) let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
/// `NSMergePolicy.mergeByPropertyObjectTrump` under its older name.
public nonisolated(unsafe) let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy =
  .mergeByPropertyObjectTrump
/// `NSMergePolicy.mergeByPropertyStoreTrump` under its older name.
public nonisolated(unsafe) let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy =
  .mergeByPropertyStoreTrump

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

/// A row that changed since its object was read.
///
/// Snapshots are the last known values of the row in three places, by property: attributes, and the
/// object IDs of to-one relationships; nil values are `NSNull`. A conflict with the row cache has
/// `objectSnapshot` and `cachedSnapshot`, one with the store `cachedSnapshot` and `persistedSnapshot`.
/// Apple counterpart: the same; the book's chapter 11.
open class NSMergeConflict: NSObject {
  /// The object whose changes could not be written.
  public let sourceObject: NSManagedObject
  /// The values that the context took its object from; nil for a conflict with the store.
  public let objectSnapshot: [String: Any]?
  /// The values in the row cache; nil when it has none.
  public let cachedSnapshot: [String: Any]?
  /// The values in the store; nil for a conflict with the row cache, and when the row is gone.
  public let persistedSnapshot: [String: Any]?
  /// The version (`Z_OPT`) that the object was read at.
  public let oldVersionNumber: Int
  /// The version found; 0 when the row is gone.
  public let newVersionNumber: Int

  /// Describes a conflict of an object.
  ///
  /// Without a persisted snapshot it is one with the row cache, whose object snapshot is taken from the
  /// object.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    objectSnapshot = newvers != 0 && persnap == nil ? srcObject.snapshot : nil
  }

  init(_ conflict: SaveConflict) {
    sourceObject = conflict.object
    oldVersionNumber = Int(conflict.oldVersion)
    newVersionNumber = Int(conflict.newVersion)
    cachedSnapshot = conflict.cached
    persistedSnapshot = conflict.persisted
    objectSnapshot = conflict.place == .rowCache ? conflict.object.snapshot : nil
  }

  /// The object, the versions and where the conflict was found.
  open override var description: String {
    let place = objectSnapshot == nil ? "the store" : "the row cache"
    let found = newVersionNumber == 0 ? "no row" : "version \(newVersionNumber)"
    return "NSMergeConflict for \(sourceObject.objectID): version \(oldVersionNumber) in the "
      + "context, \(found) in \(place)"
  }
}
