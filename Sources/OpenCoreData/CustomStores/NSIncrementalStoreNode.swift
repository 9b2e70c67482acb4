import ManagedModel
import Synchronization

/// The values of one object of an incremental store, and their version.
///
/// The store returns it from `newValuesForObject(with:with:)`, and may keep it to update it later.
/// Any thread may use it. Apple counterpart: the same.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
  // A lock guards `contents`; `store` is set once, when the store has returned the node
  /// The ID of the object.
  public let objectID: NSManagedObjectID
  private let contents: Mutex<Contents>
  /// The store whose row cache has the values.
  weak var store: NSIncrementalStore?

  private struct Contents: @unchecked Sendable {  // only used under the lock
    var values: [String: Any]
    var version: UInt64
  }

  /// Creates a node.
  ///
  /// - Parameters:
  ///   - objectID: The ID of the object.
  ///   - values: By property name. Attributes: a value of the attribute's type; a missing one is
  ///     `nil`. To-one relationships: an `NSManagedObjectID`, or `NSNull` for `nil`. To-many
  ///     relationships: an array or a set of `NSManagedObjectID`s. A missing relationship is read
  ///     by `newValue(forRelationship:…)`, a to-one when the object's fault fires, a to-many when
  ///     it's read.
  ///   - version: The version that optimistic locking compares; the same as long as nothing
  ///     changes.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    self.objectID = objectID
    contents = Mutex(Contents(values: values, version: version))
  }

  /// Replaces the values and the version, in the row cache as well.
  ///
  /// A store that keeps its nodes calls it while it saves or after it has read newer data. A node
  /// that the store has just created may be updated too: for the rows of new objects, and for the
  /// rows that a fetch has read, whose faults then fire without a call. The row cache ignores
  /// objects that no context has registered. Realized objects keep their values until they're
  /// refreshed.
  open func update(withValues values: [String: Any], version: UInt64) {
    nonisolated(unsafe) let values = values
    contents.withLock { $0 = Contents(values: values, version: version) }
    let store = store ?? objectID.persistentStore as? NSIncrementalStore
    store?.nodeDidUpdate(self)
  }

  /// The version of the values.
  open var version: UInt64 { contents.withLock { $0.version } }

  /// Returns the value of a property in the form that the initializer takes; `nil` if it's missing.
  open func value(for prop: NSPropertyDescription) -> Any? {
    value(named: prop.name)
  }

  /// Returns the value of a property by name; `nil` if it's missing.
  final func value(named name: String) -> Any? {
    nonisolated(unsafe) let value = contents.withLock { $0.values[name] }
    return value
  }
}
