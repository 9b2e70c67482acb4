// swift-format-ignore-file: AlwaysUseLowerCamelCase

import ManagedModel

// The constants of the predefined policies have Core Data's names.

/// A way in which a predefined policy resolves conflicts.
///
/// Apple counterpart: the same.
public enum NSMergePolicyType: UInt, Sendable {
  /// Resolves nothing: the save throws.
  case errorMergePolicyType = 0
  /// Merges by property; if both sides changed it, the store's value wins.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Merges by property; if both sides changed it, the context's value wins.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// Replaces the row with all properties of the context's object.
  case overwriteMergePolicyType = 3
  /// Discards the context's changes of the objects in conflict.
  case rollbackMergePolicyType = 4
}

/// Resolves the conflicts of a save, so that the save can continue.
///
/// A context has one. Subclasses override `resolve(optimisticLockingConflicts:)` and
/// `resolve(constraintConflicts:)`, call super first, and can then change objects; after they
/// return, the save is attempted again. Called on the context's queue. Apple counterpart: the same;
/// the book's chapter 11.
open class NSMergePolicy: NSObject {
  /// The way in which this policy resolves conflicts unless a subclass overrides it.
  public let mergeType: NSMergePolicyType

  /// Throws error 133020 or 133021 for a conflict: the default of a context.
  public nonisolated(unsafe) static let error = NSMergePolicy(merge: .errorMergePolicyType)
  /// Discards the context's changes of the objects in conflict; the rest is saved.
  public nonisolated(unsafe) static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  /// Writes all properties of the objects in conflict, regardless of the store.
  public nonisolated(unsafe) static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  /// Merges by property; the context's value wins if both sides changed it.
  public nonisolated(unsafe) static let mergeByPropertyObjectTrump = NSMergePolicy(
    merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// Merges by property; the store's value wins if both sides changed it.
  public nonisolated(unsafe) static let mergeByPropertyStoreTrump = NSMergePolicy(
    merge: .mergeByPropertyStoreTrumpMergePolicyType)

  /// Creates a policy that resolves conflicts in a predefined way.
  public init(merge ty: NSMergePolicyType) {
    mergeType = ty
    super.init()
  }

  /// Resolves conflicts of both kinds.
  ///
  /// If it can't, it throws, and the save fails.
  open func resolve(mergeConflicts list: [Any]) throws {
    try resolve(list.compactMap { $0 as? NSMergeConflict })
    try resolve(list.compactMap { $0 as? NSConstraintConflict })
  }

  /// Resolves optimistic-locking conflicts: rows that changed since their objects were read.
  ///
  /// - Throws: 133020 if the type is `errorMergePolicyType`.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    try resolve(mergeConflicts: list)
  }

  /// Resolves constraint conflicts: objects and rows with equal values for a uniqueness constraint.
  ///
  /// - Throws: 133021 if the type is `errorMergePolicyType`.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    try resolve(mergeConflicts: list)
  }
}

/// The older name of `NSMergePolicy.error`.
public nonisolated(unsafe) let NSErrorMergePolicy: NSMergePolicy = .error
/// The older name of `NSMergePolicy.rollback`.
public nonisolated(unsafe) let NSRollbackMergePolicy: NSMergePolicy = .rollback
/// The older name of `NSMergePolicy.overwrite`.
public nonisolated(unsafe) let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
/// The older name of `NSMergePolicy.mergeByPropertyObjectTrump`.
public nonisolated(unsafe) let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy =
  .mergeByPropertyObjectTrump
/// The older name of `NSMergePolicy.mergeByPropertyStoreTrump`.
public nonisolated(unsafe) let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy =
  .mergeByPropertyStoreTrump

/// Objects, or an object and a row, with equal values for a uniqueness constraint.
///
/// Apple counterpart: the same; the book's chapter 11.
open class NSConstraintConflict: NSObject {
  /// The names of the constrained properties.
  public let constraint: [String]
  /// The duplicate values, by property.
  public let constraintValues: [String: Any]
  /// The object of the stored row; `nil` for a conflict among the objects of the save.
  public let databaseObject: NSManagedObject?
  /// The stored row's values, by property.
  public var databaseSnapshot: [String: Any]? { database?.values }
  /// The objects of the save that can't be written.
  public let conflictingObjects: [NSManagedObject]
  /// The last saved values of each conflicting object, in order; empty for a new one.
  public var conflictingSnapshots: [[String: Any]] { conflicting.map(\.values) }
  private let database: ConflictSnapshot?
  private let conflicting: [ConflictSnapshot]

  /// Creates a conflict over one set of values.
  public init(
    constraint contraints: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [String: Any]?, conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [[String: Any]]
  ) {
    constraint = contraints
    self.databaseObject = databaseObject
    database = (databaseObject ?? conflictingObjects.first).flatMap {
      ConflictSnapshot(databaseSnapshot, of: $0)
    }
    self.conflictingObjects = conflictingObjects
    conflicting = zip(conflictingObjects, conflictingSnapshots).compactMap {
      ConflictSnapshot($1, of: $0)
    }
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
/// Snapshots are the last known values of the object, the row cache, and the store, by property:
/// attributes, and the object IDs of to-one relationships; `nil` values are `NSNull`. A conflict
/// with the row cache has `objectSnapshot` and `cachedSnapshot`, one with the store
/// `cachedSnapshot` and `persistedSnapshot`. Externally stored values are read with the first use
/// of a snapshot, on the context's queue; one whose file was removed is missing, unless the object
/// had read it. Apple counterpart: the same; the book's chapter 11.
open class NSMergeConflict: NSObject {
  /// The object whose changes couldn't be written.
  public let sourceObject: NSManagedObject
  /// The values that the object was read with; `nil` for a conflict with the store.
  public var objectSnapshot: [String: Any]? { object?.values }
  /// The values in the row cache; `nil` if it has none.
  public var cachedSnapshot: [String: Any]? { cached?.values }
  /// The values in the store; `nil` for a conflict with the row cache, and if the row no longer
  /// exists.
  public var persistedSnapshot: [String: Any]? { persisted?.values }
  /// The version (`Z_OPT`) that the object was read with.
  public let oldVersionNumber: Int
  /// The current version; 0 if the row no longer exists.
  public let newVersionNumber: Int
  private let object: ConflictSnapshot?
  private let cached: ConflictSnapshot?
  private let persisted: ConflictSnapshot?

  /// Creates a conflict of an object.
  ///
  /// Without a persisted snapshot, it's a conflict with the row cache, whose object snapshot is
  /// taken from the object.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    cached = ConflictSnapshot(cachesnap, of: srcObject)
    persisted = ConflictSnapshot(persnap, of: srcObject)
    object =
      newvers != 0 && persnap == nil ? ConflictSnapshot(srcObject.snapshot, of: srcObject) : nil
  }

  init(_ conflict: SaveConflict) {
    sourceObject = conflict.object
    oldVersionNumber = Int(conflict.oldVersion)
    newVersionNumber = Int(conflict.newVersion)
    cached = ConflictSnapshot(conflict.cached, of: conflict.object)
    persisted = ConflictSnapshot(conflict.persisted, of: conflict.object)
    object =
      conflict.location == .rowCache
      ? ConflictSnapshot(conflict.object.snapshot, of: conflict.object) : nil
  }

  /// The object, the versions, and whether the row cache or the store has the conflict.
  open override var description: String {
    let location = object == nil ? "the store" : "the row cache"
    let found = newVersionNumber == 0 ? "no row" : "version \(newVersionNumber)"
    return "NSMergeConflict for \(sourceObject.objectID): version \(oldVersionNumber) in the "
      + "context, \(found) in \(location)"
  }
}
