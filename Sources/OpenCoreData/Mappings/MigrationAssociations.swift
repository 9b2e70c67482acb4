import ManagedModel

/// The source and destination instances that belong together, for one entity mapping.
///
/// An instance is stored as its primary key, so that none is retained. **Cost:** 32 bytes for each
/// pair.
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

  /// Returns the destination instances in a range that aren't associated at an earlier position,
  /// too.
  func newDestinations(in range: Range<Int>) -> [FetchedIdentity] {
    range.filter(destinations.isFirst).map { destinations.identities[$0] }
  }

  /// Returns the source instances in a range of the order in which they were added.
  func sources(in range: Range<Int>) -> ArraySlice<FetchedIdentity> {
    sources.identities[range]
  }
}

/// Instances in the order in which they were added, with their positions.
///
/// As long as the primary keys ascend, as they do in a migration without policies, a lookup is a
/// comparison if they also have no gaps, and a binary search otherwise; afterward it's by a hash
/// table, which takes about 50 bytes for each instance.
private struct InstanceList {
  private(set) var identities: [FetchedIdentity] = []
  /// The last position of each instance; `nil` as long as the keys ascend.
  private var last: [InstanceKey: UInt32]?
  /// For each position, the next one of the same instance; for the last, the first.
  private var next: [UInt32] = []

  mutating func append(_ identity: FetchedIdentity) {
    let key = InstanceKey(identity)
    if last == nil, let before = identities.last, key < InstanceKey(before) {
      last = [:]
      for position in identities.indices { link(InstanceKey(identities[position]), position) }
    }
    if last != nil { link(key, identities.count) }
    identities.append(identity)
  }

  /// Records the position of an instance, which is the next one of the list.
  private mutating func link(_ key: InstanceKey, _ position: Int) {
    let position = UInt32(position)
    if let former = last?.updateValue(position, forKey: key) {
      next.append(next[Int(former)])
      next[Int(former)] = position
    } else {
      next.append(position)
    }
  }

  func positions(of identity: FetchedIdentity) -> [Int] {
    let key = InstanceKey(identity)
    guard let last else { return Array(ascendingPositions(of: key)) }
    guard let end = last[key] else { return [] }
    var (position, found) = (next[Int(end)], [Int(next[Int(end)])])
    while position != end {
      position = next[Int(position)]
      found.append(Int(position))
    }
    return found
  }

  /// Returns whether a position is the first one of its instance.
  func isFirst(_ position: Int) -> Bool {
    let key = InstanceKey(identities[position])
    guard let last else { return position == 0 || InstanceKey(identities[position - 1]) != key }
    return last[key].map { Int(next[Int($0)]) == position } ?? false
  }

  private func ascendingPositions(of key: InstanceKey) -> Range<Int> {
    guard let first = identities.first else { return 0..<0 }
    var (low, high) = (0, identities.count)
    let (guess, overflows) = key.primaryKey.subtractingReportingOverflow(first.primaryKey)
    if !overflows, guess > 0, guess < high, InstanceKey(identities[Int(guess)]) == key,
      InstanceKey(identities[Int(guess) - 1]) != key
    {
      low = Int(guess)
      high = low
    }
    while low < high {
      let middle = (low + high) / 2
      if InstanceKey(identities[middle]) < key { low = middle + 1 } else { high = middle }
    }
    var end = low
    while end < identities.count, InstanceKey(identities[end]) == key { end += 1 }
    return low..<end
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
