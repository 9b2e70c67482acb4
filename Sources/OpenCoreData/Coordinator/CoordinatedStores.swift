import Dispatch
import Synchronization

/// The stores of a coordinator: in the order in which they were added, each with its own index.
///
/// The index distinguishes the rows of one store from those of another: see `EntityLayout.at(_:)`.
/// The index of a removed store is only reused for a store with the same identifier, so that a
/// store that moves to another file stays where its objects look for it, and no other store's rows
/// are taken for those of objects that contexts still have.
struct CoordinatedStores {
  private(set) var all: [RowStore] = []
  /// Indexes of stores that are being opened.
  private var reserved: Set<Int> = []
  /// Stores that were removed, by index.
  private(set) var former: [Int: FormerStore] = [:]

  /// Reserves the index of the removed store with an identifier, or else the lowest unused index,
  /// until it's filled or released.
  mutating func reserve(for identifier: String?) -> Int {
    let known = former.first { $0.value.identifier == identifier && !reserved.contains($0.key) }
    var storeIndex = known?.key ?? 0
    if known == nil {
      while reserved.contains(storeIndex) || former[storeIndex] != nil
        || store(at: storeIndex) != nil
      {
        storeIndex += 1
      }
    }
    reserved.insert(storeIndex)
    return storeIndex
  }

  /// Releases an index that was reserved but not filled.
  mutating func release(_ storeIndex: Int) {
    reserved.remove(storeIndex)
  }

  /// Adds a store.
  ///
  /// - Throws: 134080 for a file that was already added, or a copy of it: URIs would be ambiguous.
  /// - Returns: Whether from now on objects of several stores must be distinguished.
  mutating func fill(_ storeIndex: Int, with store: RowStore) throws -> Bool {
    if let twin = all.first(where: { $0.identifier == store.identifier }) {
      throw NSError.coreData(
        NSPersistentStoreOpenError,
        "The coordinator already has a store with the identifier \(store.identifier): "
          + "\(twin.url?.path ?? "in memory"). The same store can't be added twice.",
        [NSFilePathErrorKey: store.url?.path ?? ""])
    }
    reserved.remove(storeIndex)
    former[storeIndex] = nil
    all.append(store)
    return all.count > 1 || storeIndex != 0 || store.configuration != nil
  }

  /// Removes and returns a store; `nil` if it isn't there.
  mutating func remove(_ store: AnyObject) -> RowStore? {
    guard let index = all.firstIndex(where: { $0 === store }) else { return nil }
    let removed = all.remove(at: index)
    former[removed.storeIndex] = FormerStore(removed)
    return removed
  }

  /// Returns the store at an index.
  func store(at storeIndex: Int) -> RowStore? {
    all.first { $0.storeIndex == storeIndex }
  }
}

/// A serial queue that can check whether the caller runs on it.
struct CoordinatorQueue: Sendable {
  let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
  private let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: key, value: true)
  }

  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true
  }
}

/// The contexts that automatically merge what is saved to a coordinator or to a parent context.
///
/// Keeps no strong references. Any thread may use it.
final class AutomaticMergeObservers<Context: AnyObject & Sendable>: Sendable {
  private struct Observer {
    weak var context: Context?
  }

  private let observers = Mutex<[Observer]>([])

  var contexts: [Context] {
    observers.withLock { $0.compactMap(\.context) }
  }

  func add(_ context: Context) {
    observers.withLock { observers in
      observers.removeAll { $0.context == nil }
      observers.append(Observer(context: context))
    }
  }

  func remove(_ context: Context) {
    observers.withLock { $0.removeAll { $0.context == nil || $0.context === context } }
  }
}
