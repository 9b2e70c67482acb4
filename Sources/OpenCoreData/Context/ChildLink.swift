import ManagedModel
import Synchronization

/// What a context stores for its children, which may still identify an object by a temporary key
/// after the context has saved it.
///
/// Children read it on their own queues. Without children, no keys of saved objects are stored:
/// nothing but a child identifies a saved object by its temporary key.
struct ChildLink: ~Copyable, Sendable {
  // Not private: the compiler can't emit the context otherwise.
  struct Keys {
    /// The permanent keys of saved objects by their temporary ones.
    var permanent: [Int64: Int64] = [:]
    var temporary: [RowKey: Int64] = [:]
    /// The temporary keys of faults that a program has created from an object ID.
    var separate: Set<Int64> = []
    /// The number of children that exist.
    var childCount = 0
  }

  private let keys = Mutex(Keys())

  /// Records that a child exists.
  func addChild() {
    keys.withLock { $0.childCount += 1 }
  }

  /// Records that a child no longer exists; discards the keys of saved objects if it was the last.
  func removeChild() {
    keys.withLock {
      $0.childCount -= 1
      guard $0.childCount == 0 else { return }
      $0.permanent = [:]
      $0.temporary = [:]
    }
  }

  /// Records the permanent key of an object, if there are children.
  func promote(_ temporary: Int64, to permanent: RowKey) {
    keys.withLock {
      guard $0.childCount > 0 else { return }
      $0.permanent[temporary] = permanent.primaryKey
      $0.temporary[permanent] = temporary
    }
  }

  /// Returns the permanent key of an object that had a temporary one; `nil` if it was never saved.
  func permanentKey(for temporary: Int64) -> Int64? {
    keys.withLock { $0.permanent[temporary] }
  }

  /// Returns the other key of a row that this context has saved: the temporary one of a permanent
  /// key, or vice versa.
  func otherKey(of row: RowKey) -> Int64? {
    keys.withLock {
      row.primaryKey > 0 ? $0.temporary[row] : $0.permanent[row.primaryKey]
    }
  }

  /// Records that the object of a temporary key is never returned for its permanent one.
  func separate(_ temporary: Int64) {
    _ = keys.withLock { $0.separate.insert(temporary) }
  }

  /// Returns whether the object of a temporary key is never returned for its permanent one.
  func isSeparate(_ temporary: Int64) -> Bool {
    keys.withLock { $0.separate.contains(temporary) }
  }

  /// Discards the keys of faults that the context no longer has; children still use the others.
  func removeSeparate() {
    keys.withLock { $0.separate = [] }
  }
}

extension NSManagedObjectContext {
  /// Returns a child's registered object of a row whose key differs from the given one; `nil` if
  /// there's none.
  ///
  /// A new object keeps its temporary key after a parent has saved it, until the child finds it by
  /// the permanent one, as the parent's rows and fetches refer to it. It gets that key then.
  final func twin(rootIndex: Int, key: Int64) -> NSManagedObject? {
    guard hasParent,
      let other = otherKey(of: RowKey(rootIndex: rootIndex, primaryKey: key)),
      let object = registry.object(rootIndex: rootIndex, key: other),
      // The temporary key is the negative one of the two.
      !children.isSeparate(min(key, other))
    else { return nil }
    if key > 0 {
      object.primaryKey = key
      rekey(object, from: other)
      store(for: object)?.addOwner(rootIndex: rootIndex, keys: CollectionOfOne(key))
    }
    return object
  }

  /// Returns the other key of a row that one of the parents has saved.
  fileprivate final func otherKey(of row: RowKey) -> Int64? {
    var above = parent
    while let context = above {
      if let key = context.children.otherKey(of: row) { return key }
      above = context.parent
    }
    return nil
  }

  /// Returns the object of an ID that isn't registered under its key.
  ///
  /// In a child, a fault that is made from a temporary ID isn't the object of the permanent one.
  final func objectOfUnregisteredID(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject {
    if key < 0, hasParent, twin(rootIndex: layout.rootIndex, key: key) == nil {
      children.separate(key)
    }
    return registered(layout, key)
  }
}

extension NSManagedObject {
  /// The temporary key that a child's object had before it got its permanent one.
  final var formerKey: Int64? {
    guard primaryKey > 0, let context, context.hasParent else { return nil }
    return context.otherKey(of: RowKey(identity))
  }
}
