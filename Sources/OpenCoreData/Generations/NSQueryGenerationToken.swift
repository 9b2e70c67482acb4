import ManagedModel

/// Names a state of a store that contexts may go on reading while others save.
///
/// The state is kept, and the store's write-ahead log with it, as long as a token of it lives. Any thread
/// may use it. Apple counterpart: `NSQueryGenerationToken`; the book's chapter 11.
public final class NSQueryGenerationToken: NSObject, @unchecked Sendable {
  // immutable
  /// Nil for the two that name no particular state.
  let generation: StoreGeneration?

  /// The newest state there is at the next read.
  public static let current = NSQueryGenerationToken(nil)
  /// Whatever is newest at each read.
  public static let unpinned = NSQueryGenerationToken(nil)

  init(_ generation: StoreGeneration?) {
    self.generation = generation
  }

  /// Whether both name the same state.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSQueryGenerationToken else { return false }
    return self === other || (generation != nil && generation === other.generation)
  }

  /// Follows `isEqual`.
  public override var hash: Int {
    generation.map { ObjectIdentifier($0).hashValue } ?? ObjectIdentifier(self).hashValue
  }
}
