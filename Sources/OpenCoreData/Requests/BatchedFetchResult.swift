import ManagedModel
import ProfileEvents

/// The result of a fetch that loads its objects in batches, on demand.
///
/// The count and the order are fixed when the fetch ends. The four most recently used batches are
/// retained while another is loaded; then the oldest is released. Use it on its context's queue; it
/// keeps a strong reference to the context. Apple counterpart: the array that `fetchBatchSize`
/// returns in Objective-C.
///
/// **Cost:** `subscript` runs one SELECT of at most `batchSize` rows if the batch isn't loaded.
public struct BatchedFetchResult<Element>: RandomAccessCollection {
  private let batches: FetchBatches

  init(_ batches: FetchBatches) {
    self.batches = batches
  }

  /// Always 0.
  public var startIndex: Int { 0 }

  /// The number of matches; needs no statement.
  public var endIndex: Int { batches.count }

  /// The number of objects in a batch, which is the request's `fetchBatchSize`.
  public var batchSize: Int { batches.batchSize }

  /// Returns the object at a position.
  ///
  /// If its batch can't be read, it's a fault, and reading that reports the error on stderr. It's a
  /// programmer error if the object has another type.
  public subscript(position: Int) -> Element {
    guard let object = batches.objectOrFault(at: position) as? Element else {
      fatalError("the object at \(position) isn't a \(Element.self)")
    }
    return object
  }

  /// Returns the object ID at a position, without loading its batch.
  ///
  /// It's a programmer error to pass a position outside of the result.
  package func objectID(at position: Int) -> NSManagedObjectID {
    batches.objectID(at: position)
  }
}

/// The primary keys of a batched fetch, and its loaded batches.
final class FetchBatches {
  let keys: [FetchedIdentity]
  let batchSize: Int
  /// Unsaved objects by the temporary key they were fetched with.
  private let unsaved: [Int64: NSManagedObject]
  private let plan: FetchPlan
  private let context: NSManagedObjectContext
  private var loaded: [Int: [NSManagedObject]] = [:]
  /// Least recently used first.
  private var recent: [Int] = []

  /// The number of batches that a fetch or a results controller retains, those used last; there's
  /// one more while it's being loaded.
  ///
  /// Chosen by OpenCoreData: Core Data's number is unknown.
  static let retained = 4

  init(
    keys: [FetchedIdentity], unsaved: [NSManagedObject], plan: FetchPlan,
    context: NSManagedObjectContext
  ) {
    self.keys = keys
    self.unsaved = Dictionary(
      unsaved.map { ($0.primaryKey, $0) }, uniquingKeysWith: { first, _ in first })
    self.plan = plan
    self.batchSize = plan.batchSize
    self.context = context
  }

  var count: Int { keys.count }

  /// Returns the object at a position, loading its batch if necessary.
  func object(at position: Int) throws -> NSManagedObject {
    guard keys.indices.contains(position) else {
      fatalError("position \(position) of \(PluralForm.counted(count, "object"))")
    }
    let number = position / batchSize
    let batch = try self.batch(number)
    return batch[position - number * batchSize]
  }

  /// Returns the object at a position, as a fault if its batch can't be read.
  func objectOrFault(at position: Int) -> NSManagedObject {
    do {
      return try object(at: position)
    } catch {
      context.noteFailure(error, "the batch of the object at \(position) couldn't be read")
      let key = keys[position]
      return unsaved[key.primaryKey] ?? context.registered(key.layout, key.primaryKey)
    }
  }

  /// Returns the object ID at a position.
  func objectID(at position: Int) -> NSManagedObjectID {
    let key = keys[position]
    return unsaved[key.primaryKey]?.objectID
      ?? NSManagedObjectID(
        layout: key.layout, primaryKey: key.primaryKey, store: context.store(for: key.layout))
  }

  private func batch(_ number: Int) throws -> [NSManagedObject] {
    if let batch = loaded[number] {
      touch(number)
      return batch
    }
    let start = number * batchSize
    let batch = try context.loadBatch(
      keys[start..<min(start + batchSize, count)], plan, unsaved: unsaved)
    loaded[number] = batch
    touch(number)
    if recent.count > FetchBatches.retained {
      let oldest = recent.removeFirst()
      // The keys are taken first: a strong reference to the batch would keep its objects
      // registered.
      let keys = (loaded[oldest] ?? []).map { ($0.layout.rootIndex, $0.primaryKey) }
      loaded[oldest] = nil
      context.release(keys)
    }
    return batch
  }

  private func touch(_ number: Int) {
    if recent.last == number { return }
    recent.removeAll { $0 == number }
    recent.append(number)
  }
}
