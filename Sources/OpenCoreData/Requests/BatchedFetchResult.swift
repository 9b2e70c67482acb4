import ManagedModel
import ProfileEvents

/// The result of a fetch that loads its objects a page at a time, as they are looked at.
///
/// Count and positions are fixed when the fetch ends. The four most recently used pages are held while
/// another is loaded; then the oldest is let go. Use it on its context's queue; it holds the context.
/// Apple counterpart: the array that `fetchBatchSize` gives in Objective-C.
///
/// Cost: `subscript` runs one SELECT of at most `pageSize` rows when the page is not held.
public struct BatchedFetchResult<Element>: RandomAccessCollection {
  private let pages: BatchedPages

  init(_ pages: BatchedPages) {
    self.pages = pages
  }

  /// Always 0.
  public var startIndex: Int { 0 }

  /// The number of matches; known without a statement.
  public var endIndex: Int { pages.count }

  /// Objects to a page, which is the request's `fetchBatchSize`.
  public var pageSize: Int { pages.pageSize }

  /// The object at a position.
  ///
  /// When its page cannot be read, it is a fault: reading that tells on stderr what is wrong. Traps
  /// when the object is of another type.
  public subscript(position: Int) -> Element {
    guard let object = pages.objectOrFault(at: position) as? Element else {
      preconditionFailure("the object at \(position) isn't a \(Element.self)")
    }
    return object
  }
}

/// The keys of a batched fetch and the pages held at present.
final class BatchedPages {
  let keys: [FetchedIdentity]
  let pageSize: Int
  /// By the temporary key they were fetched under.
  private let unsaved: [Int64: NSManagedObject]
  private let plan: FetchPlan
  private let context: NSManagedObjectContext
  private var pages: [Int: [NSManagedObject]] = [:]
  /// Least recently used first.
  private var recent: [Int] = []

  /// Pages kept beside the one that is loaded.
  ///
  /// Ours: Apple's number is not known.
  static let kept = 4

  init(
    keys: [FetchedIdentity], unsaved: [NSManagedObject], plan: FetchPlan,
    context: NSManagedObjectContext
  ) {
    self.keys = keys
    self.unsaved = Dictionary(
      unsaved.map { ($0.primaryKey, $0) }, uniquingKeysWith: { first, _ in first })
    self.plan = plan
    self.pageSize = plan.batchSize
    self.context = context
  }

  var count: Int { keys.count }

  /// The object at a position, its page loaded when it is not held.
  func object(at position: Int) throws -> NSManagedObject {
    precondition(
      keys.indices.contains(position),
      "position \(position) of \(PluralForm.counted(count, "object"))")
    let number = position / pageSize
    let page = try self.page(number)
    return page[position - number * pageSize]
  }

  /// The object at a position, as a fault when its page cannot be read.
  func objectOrFault(at position: Int) -> NSManagedObject {
    do {
      return try object(at: position)
    } catch {
      context.noteFailure(error, "the batch with index \(position) could not be read")
      let key = keys[position]
      return unsaved[key.primaryKey] ?? context.registered(key.layout, key.primaryKey)
    }
  }

  private func page(_ number: Int) throws -> [NSManagedObject] {
    if let page = pages[number] {
      touch(number)
      return page
    }
    let start = number * pageSize
    let page = try context.loadPage(
      keys[start..<min(start + pageSize, count)], plan, unsaved: unsaved)
    pages[number] = page
    touch(number)
    if recent.count > BatchedPages.kept {
      let oldest = recent.removeFirst()
      // Keys are taken first: whoever still held the page here would keep its objects registered.
      let keys = (pages[oldest] ?? []).map { ($0.layout.rootIndex, $0.primaryKey) }
      pages[oldest] = nil
      context.letGo(keys)
    }
    return page
  }

  private func touch(_ number: Int) {
    if recent.last == number { return }
    recent.removeAll { $0 == number }
    recent.append(number)
  }
}
