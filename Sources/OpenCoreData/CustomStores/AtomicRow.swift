import ManagedModel

/// A row made from a node of an atomic store, and the destinations of its to-many relationships.
struct AtomicRow {
  private let row: MemoryRow
  private var links: [(key: ToManyKey, destinations: [FetchedIdentity])] = []

  /// Creates the row of an object.
  ///
  /// - Throws: 134070 for a value that isn't of its property's type.
  init(_ node: NSAtomicStoreCacheNode, version: Int64, of store: NSAtomicStore) throws {
    let layout = node.objectID.layout
    let key = node.objectID.primaryKey
    row = MemoryRow(
      layout: layout, primaryKey: key,
      row: try NodeRow.row(
        layout, version: version,
        value: { name in node.value(forKey: name) },
        destination: { slot in
          try AtomicRow.ids(node.value(forKey: slot.name), slot.relationship, store).first
        }, in: store))
    for relationship in layout.toMany where !relationship.isTransient {
      let found = try AtomicRow.ids(node.value(forKey: relationship.name), relationship, store)
      let key = ToManyKey(
        rootIndex: layout.rootIndex, primaryKey: key, relationship: relationship.name)
      links.append((key, found.map(\.identity)))
    }
  }

  func put(into tables: inout MemoryTables) {
    tables.put(row)
    // A node that's replaced can have had destinations.
    for (key, destinations) in links where !destinations.isEmpty || tables.links[key] != nil {
      tables.replace(key, by: destinations)
    }
  }

  /// Returns the IDs of the nodes that are the value of a relationship.
  private static func ids(
    _ value: Any?, _ relationship: NSRelationshipDescription, _ store: NSAtomicStore
  ) throws -> [NSManagedObjectID] {
    let list: [Any] =
      switch value {
      case nil, is NSNull: []
      case let nodes as Set<NSAtomicStoreCacheNode>:
        nodes.sorted {
          $0.objectID.primaryKey < $1.objectID.primaryKey
        }
      case let nodes as [NSAtomicStoreCacheNode]: nodes
      case let nodes as NSSet: nodes.allObjects
      case let nodes as NSOrderedSet: nodes.array
      case let node?: [node]
      }
    return try list.map { item in
      let id = (item as? NSAtomicStoreCacheNode)?.objectID
      return try NodeRow.checked(id ?? item, relationship, store)
    }
  }
}
