import ManagedModel

/// The values of one object of an atomic store.
///
/// Used by one thread at a time: the framework calls the store for one context at a time. Apple
/// counterpart: the same.
open class NSAtomicStoreCacheNode: NSObject, @unchecked Sendable {
  /// The ID of the object.
  public let objectID: NSManagedObjectID

  /// The values by property name; `nil` until one is set.
  ///
  /// Attributes: a value of the attribute's type. To-one relationships: the destination's node.
  /// To-many relationships: a set of nodes, or an array if the relationship is ordered. Core Data's
  /// dictionary is an `NSMutableDictionary`.
  open var propertyCache: [String: Any]?

  /// Creates a node without values.
  public init(objectID moid: NSManagedObjectID) {
    objectID = moid
  }

  /// Returns the value of a property; `nil` if it has none.
  ///
  /// A subclass with its own storage overrides it, and `setValue(_:forKey:)`.
  open func value(forKey key: String) -> Any? {
    propertyCache?[key]
  }

  /// Sets the value of a property.
  open func setValue(_ value: Any?, forKey key: String) {
    propertyCache = propertyCache ?? [:]
    propertyCache?[key] = value
  }
}

/// The values of a node before a save, which a failure restores.
struct NodeContents {
  private let node: NSAtomicStoreCacheNode
  private let cache: [String: Any]?
  /// Those of a node of a program's own class, which may have its own storage.
  private let values: [(name: String, value: Any?)]

  init(_ node: NSAtomicStoreCacheNode) {
    self.node = node
    cache = node.propertyCache
    let isPlain = type(of: node) == NSAtomicStoreCacheNode.self
    values =
      isPlain
      ? []
      : node.objectID.entity.propertiesByName.values
        .filter { !$0.isTransient && !($0 is NSFetchedPropertyDescription) }
        .map { ($0.name, node.value(forKey: $0.name)) }
  }

  func restore() {
    for (name, value) in values { node.setValue(value, forKey: name) }
    node.propertyCache = cache
  }
}

/// The nodes of a store before a save.
struct FormerNodes {
  private var nodes: [RowKey: NSAtomicStoreCacheNode]
  /// The contents of those that the save updates.
  private var contents: [RowKey: NodeContents] = [:]

  init(_ nodes: [RowKey: NSAtomicStoreCacheNode], before plan: SavePlan) {
    self.nodes = nodes
    for object in plan.updated {
      let key = RowKey(object.identity)
      contents[key] = nodes[key].map(NodeContents.init)
    }
  }

  /// Adopts the present nodes of some objects: another save during this one has written them.
  mutating func adopt(_ keys: [RowKey], of present: [RowKey: NSAtomicStoreCacheNode]) {
    for key in keys {
      nodes[key] = present[key]
      if contents[key] != nil { contents[key] = present[key].map(NodeContents.init) }
    }
  }

  /// Restores the contents of the nodes, and returns these.
  func restored() -> [RowKey: NSAtomicStoreCacheNode] {
    for former in contents.values { former.restore() }
    return nodes
  }
}
