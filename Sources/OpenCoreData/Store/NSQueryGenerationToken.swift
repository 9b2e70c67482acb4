import ManagedModel

/// Names a state of the stores that contexts may go on reading while others save.
///
/// The state is kept, and the store's write-ahead log with it, as long as a token of it lives. Of several stores each
/// has a state of its own, taken at the first read after pinning. Any thread
/// may use it. Apple counterpart: `NSQueryGenerationToken`; the book's chapter 11.
public final class NSQueryGenerationToken: NSObject, @unchecked Sendable {
  // immutable
  /// A state of each store; empty for the two that name no particular one.
  let generations: [StoreGeneration]

  /// The newest state there is at the next read.
  public static let current = NSQueryGenerationToken([])
  /// Whatever is newest at each read.
  public static let unpinned = NSQueryGenerationToken([])

  init(_ generations: [StoreGeneration]) {
    self.generations = generations
  }

  /// Whether both name the same state.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSQueryGenerationToken else { return false }
    if self === other { return true }
    return !generations.isEmpty && generations.count == other.generations.count
      && zip(generations, other.generations).allSatisfy { $0 === $1 }
  }

  /// Follows `isEqual`.
  public override var hash: Int {
    generations.first.map { ObjectIdentifier($0).hashValue } ?? ObjectIdentifier(self).hashValue
  }
}
