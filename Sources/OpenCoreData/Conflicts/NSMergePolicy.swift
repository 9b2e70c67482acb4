// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The constants of the predefined policies have Apple's names.

import ManagedModel

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
