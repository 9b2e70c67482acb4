import ManagedModel

/// The source and destination instances that belong together, for one entity mapping.
///
/// An instance is stored as its primary key, so that none is retained. Cost: 32 bytes for each pair.
struct MigrationAssociations {
  private var sources = InstanceList()
  private var destinations = InstanceList()

  /// The number of pairs.
  var count: Int { sources.identities.count }

  /// Adds a pair of instances with permanent IDs.
  mutating func add(_ source: FetchedIdentity, _ destination: FetchedIdentity) {
    sources.append(source)
    destinations.append(destination)
  }

  /// Returns the destination instances of a source instance, in the order in which they were added.
  func destinations(of source: FetchedIdentity) -> [FetchedIdentity] {
    sources.positions(of: source).map { destinations.identities[$0] }
  }

  /// Returns the source instances of a destination instance, in the order in which they were added.
  func sources(of destination: FetchedIdentity) -> [FetchedIdentity] {
    destinations.positions(of: destination).map { sources.identities[$0] }
  }

  /// Returns the destination instances in a range of the order in which they were added.
  func destinations(in range: Range<Int>) -> ArraySlice<FetchedIdentity> {
    destinations.identities[range]
  }

  /// Returns the source instances in a range of the order in which they were added.
  func sources(in range: Range<Int>) -> ArraySlice<FetchedIdentity> {
    sources.identities[range]
  }
}

/// Instances in the order in which they were added, with their positions.
///
/// A lookup is a binary search as long as the primary keys ascend, as they do in a migration without
/// policies; afterward it's by a hash table.
private struct InstanceList {
  private(set) var identities: [FetchedIdentity] = []
  /// The positions of each instance; nil as long as the keys ascend.
  private var positions: [InstanceKey: [Int]]?

  mutating func append(_ identity: FetchedIdentity) {
    let key = InstanceKey(identity)
    if positions == nil, let last = identities.last, key < InstanceKey(last) {
      positions = Dictionary(grouping: identities.indices) { InstanceKey(identities[$0]) }
    }
    positions?[key, default: []].append(identities.count)
    identities.append(identity)
  }

  func positions(of identity: FetchedIdentity) -> [Int] {
    let key = InstanceKey(identity)
    if let positions { return positions[key] ?? [] }
    var (low, high) = (0, identities.count)
    while low < high {
      let middle = (low + high) / 2
      if InstanceKey(identities[middle]) < key { low = middle + 1 } else { high = middle }
    }
    var end = low
    while end < identities.count, InstanceKey(identities[end]) == key { end += 1 }
    return Array(low..<end)
  }
}

/// The row of an instance, whichever entity of its hierarchy an ID names.
struct InstanceKey: Hashable, Comparable {
  let rootIndex: Int
  let primaryKey: Int64

  init(_ identity: FetchedIdentity) {
    rootIndex = identity.layout.rootIndex
    primaryKey = identity.primaryKey
  }

  static func < (left: InstanceKey, right: InstanceKey) -> Bool {
    (left.rootIndex, left.primaryKey) < (right.rootIndex, right.primaryKey)
  }
}
