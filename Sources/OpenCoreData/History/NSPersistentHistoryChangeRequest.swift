import ManagedModel

/// Fetches the history of the stores, or deletes a part of it.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`. It reads the newest history, even if the
/// context is pinned to a query generation. **Cost:** one SELECT of transactions and one of
/// changes; with a `fetchLimit` and without sort descriptors, such a pair for the first 100
/// transactions of a single store, the next 200, and so on, until there are enough matches.
/// Deleting costs two DELETEs in a transaction. Apple counterpart: the same.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  /// The position in the history at which a request begins, or up to which it deletes.
  enum Position {
    case date(Date)
    case token(NSPersistentHistoryToken?)
  }

  private let position: Position
  private let deletes: Bool
  /// The type of the result.
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// The condition for transactions or changes: a request of
  /// `NSPersistentHistoryTransaction.fetchRequest` or `NSPersistentHistoryChange.fetchRequest` with
  /// a predicate, sort descriptors, or a limit.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  /// The token that the request was created with; `nil` for a date, and for the whole history.
  public var token: NSPersistentHistoryToken? {
    if case .token(let token) = position { return token }
    return nil
  }

  private init(_ position: Position, deletes: Bool) {
    self.position = position
    self.deletes = deletes
    super.init()
  }

  /// Returns a request for the history after a date.
  public class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), deletes: false)
  }

  /// Returns a request for the history after a token; `nil` for the whole history.
  ///
  /// Executing it throws 134301 if transactions after the token were deleted, even if older ones
  /// remain: changes would be missing. So does a token after the last transaction, when an older
  /// copy of the store has replaced it.
  public class func fetchHistory(
    after token: NSPersistentHistoryToken?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.token(token), deletes: false)
  }

  /// Returns a request for the history after a transaction; `nil` for the whole history.
  ///
  /// Executing it throws 134301 if transactions after it were deleted.
  public class func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// Returns a request for the matches of a fetch request in the whole history.
  public class func fetchHistory(
    withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let request = NSPersistentHistoryChangeRequest(.token(nil), deletes: false)
    request.fetchRequest = fetchRequest
    return request
  }

  /// Returns a request that deletes the history before a date.
  ///
  /// Transactions are selected by their times. If the clock was set back, one that follows others
  /// may be older than them; deleting it expires the tokens before it.
  public class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), deletes: true)
  }

  /// Returns a request that deletes the history before a token, excluding its own transaction;
  /// `nil` deletes nothing.
  public class func deleteHistory(
    before token: NSPersistentHistoryToken?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.token(token), deletes: true)
  }

  /// Returns a request that deletes the history before a transaction, excluding itself; `nil`
  /// deletes nothing.
  public class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    deleteHistory(before: transaction?.token)
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let stores = context.requiredCoordinator.rowStores.compactMap { $0 as? SQLiteStore }.filter {
      store in affectedStores?.contains { $0 === store } ?? true
    }
    guard !stores.isEmpty else {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError, "Only SQLite stores have a history.")
    }
    do {
      guard deletes else {
        return NSPersistentHistoryResult(try result(stores, context), resultType)
      }
      context.endReadTransaction()
      var count = 0
      for store in stores {
        count += try store.deleteHistory(before: position, in: context)
      }
      return NSPersistentHistoryResult(resultType == .count ? count : true, resultType)
    } catch {
      throw NSError.from(error, store: stores[0])
    }
  }

  /// Returns the transactions of the stores, in the order in which they were written.
  private func transactions(
    _ stores: [SQLiteStore], withChanges: Bool, _ context: NSManagedObjectContext
  ) throws -> [NSPersistentHistoryTransaction] {
    // Transactions of several stores are in the order of their times, which can go back.
    if stores.count == 1, var missing = matchLimit {
      return try stores[0].history(
        after: position, withChanges: withChanges, in: context,
        until: { [self] page in
          if filtersChanges {
            missing -= try matches(page.flatMap { $0.changes ?? [] }).count
          } else {
            missing -= try matches(page).count
          }
          return missing <= 0
        })
    }
    let found = try stores.map {
      try $0.history(after: position, withChanges: withChanges, in: context)
    }
    guard found.count > 1 else { return found.first ?? [] }
    return found.joined().enumerated()
      .sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
      .map(\.element)
  }

  private func result(_ stores: [SQLiteStore], _ context: NSManagedObjectContext) throws -> Any {
    let wantsTransactions = resultType == .transactionsOnly || resultType == .count
    var transactions = try transactions(
      stores, withChanges: !wantsTransactions || filtersChanges || comparesChanges, context)
    if !filtersChanges { transactions = try filtered(transactions) }
    var changes = transactions.flatMap { $0.changes ?? [] }
    if filtersChanges {
      changes = try filtered(changes)
      let wanted = Set(
        changes.compactMap { $0.transaction.map { "\($0.storeID) \($0.transactionNumber)" } })
      transactions.removeAll { !wanted.contains("\($0.storeID) \($0.transactionNumber)") }
    }
    switch resultType {
    case .statusOnly: return true
    case .objectIDs: return changes.map(\.changedObjectID)
    case .count: return transactions.count
    case .transactionsOnly: return transactions.map(\.withoutChanges)
    case .transactionsAndChanges: return transactions
    case .changesOnly: return changes
    }
  }

  /// Whether the fetch request selects changes instead of transactions.
  private var filtersChanges: Bool { fetchRequest?.entity === HistoryEntities.change }

  /// The number of matches after which the rest of the history isn't needed; `nil` if it is.
  private var matchLimit: Int? {
    guard let fetchRequest, fetchRequest.fetchLimit > 0,
      fetchRequest.sortDescriptors?.isEmpty ?? true
    else { return nil }
    let (limit, isTooLarge) = fetchRequest.fetchLimit.addingReportingOverflow(
      max(0, fetchRequest.fetchOffset))
    return isTooLarge ? nil : limit
  }

  /// Whether the fetch request may compare the changes of transactions.
  private var comparesChanges: Bool {
    let sortKeys = fetchRequest?.sortDescriptors?.map(\.key) ?? []
    let isOpaque = fetchRequest?.predicate.map { !$0.isComparisons } ?? false
    return isOpaque || sortKeys.contains { $0?.contains("changes") ?? true }
      || fetchRequest?.predicate?.predicateFormat.contains("changes") ?? false
  }

  /// Returns the matches of the fetch request, in its order.
  private func filtered<T: NSObject & KeyValueReadable>(_ found: [T]) throws -> [T] {
    guard let fetchRequest else { return found }
    var result = try matches(found)
    if let sort = fetchRequest.sortDescriptors, !sort.isEmpty {
      do {
        result = try result.ordered(by: sort)
      } catch {
        throw NSError.unsortable(sort, error)
      }
    }
    result.removeFirst(min(max(0, fetchRequest.fetchOffset), result.count))
    return fetchRequest.fetchLimit > 0 ? Array(result.prefix(fetchRequest.fetchLimit)) : result
  }

  /// Returns what satisfies the predicate of the fetch request.
  private func matches<T: NSObject & KeyValueReadable>(_ found: [T]) throws -> [T] {
    guard let predicate = fetchRequest?.predicate else { return found }
    do {
      return try found.filter { try predicate.evaluation(of: $0) }
    } catch {
      throw NSError.unanswerable(predicate, error)
    }
  }

  /// Returns a copy of the request, with a copy of its fetch request.
  ///
  /// A copy of a subclass is a plain `NSPersistentHistoryChangeRequest`.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentHistoryChangeRequest(position, deletes: deletes)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    copy.fetchRequest = fetchRequest.map {
      NSFetchRequest<any NSFetchRequestResult>(copying: $0)
    }
    return copy
  }
}

extension NSPredicate {
  /// Whether it consists of comparisons, so that its format names the keys that it reads.
  fileprivate var isComparisons: Bool {
    switch kind {
    case .comparison, .constant: true
    case .compound:
      (self as? NSCompoundPredicate)?.predicates.allSatisfy(\.isComparisons) ?? false
    case .block, .subclass: false
    }
  }
}

/// The type of a history request's result.
///
/// Apple counterpart: the same.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether the request succeeded, a `Bool`.
  case statusOnly = 0
  /// The IDs of the changed objects, `[NSManagedObjectID]`.
  case objectIDs = 1
  /// The number of transactions, an `Int`.
  case count = 2
  /// `[NSPersistentHistoryTransaction]` without their changes.
  case transactionsOnly = 3
  /// `[NSPersistentHistoryChange]`.
  case changesOnly = 4
  /// `[NSPersistentHistoryTransaction]` with their changes; the default.
  case transactionsAndChanges = 5
}

/// The result of a history request.
///
/// Apple counterpart: the same.
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// A value of the type that `resultType` specifies.
  public let result: Any?
  /// The type of `result`.
  public let resultType: NSPersistentHistoryResultType

  init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
    self.result = result
    self.resultType = resultType
  }
}
