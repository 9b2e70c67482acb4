import ManagedModel
import SQLiteDriver
import Synchronization

extension NSPersistentStoreCoordinator {
  /// Returns the token for the position after the last transaction of the stores; `nil` if none has
  /// a history.
  ///
  /// - Parameter stores: The stores to use; `nil` for all of them. Stores of other coordinators are
  ///   ignored.
  public func currentPersistentHistoryToken(
    fromStores stores: [Any]?
  ) -> NSPersistentHistoryToken? {
    var transactions: [String: Int64] = [:]
    for store in stores ?? persistentStores {
      guard let store = store as? SQLiteStore, persistentStores.contains(store),
        let connection = try? store.leaseNewest()
      else { continue }
      defer { store.pool.returnToPool(connection) }
      // A store that can't be read has no position.
      if let last = try? store.lastTransaction(on: connection) {
        transactions[store.identifier] = last
      }
    }
    return transactions.isEmpty ? nil : NSPersistentHistoryToken(transactions)
  }

  /// Returns the token of a did-save notification; `nil` if no store has a history.
  ///
  /// - Parameters:
  ///   - hasWritten: Whether the save wrote objects, so that each store has its transaction number
  ///     without a statement.
  ///   - own: The transactions that the save wrote, by the identifiers of the stores; other saves
  ///     may have followed.
  func historyToken(
    afterSave hasWritten: Bool, of own: [String: Int64] = [:]
  ) -> NSPersistentHistoryToken? {
    let stores = rowStores.compactMap { $0 as? SQLiteStore }.filter {
      guard let known = $0.knownHistory.withLock({ $0 }) else { return true }
      return known.tables != nil
    }
    guard !stores.isEmpty else { return nil }
    let written = stores.compactMap { store -> (String, Int64)? in
      let last = own[store.identifier] ?? store.writtenTransaction.withLock { $0 }
      return last.map { (store.identifier, $0) }
    }
    guard hasWritten, written.count == stores.count else {
      let current = currentPersistentHistoryToken(fromStores: stores)
      guard !own.isEmpty else { return current }
      return NSPersistentHistoryToken((current?.transactions ?? [:]).merging(own) { $1 })
    }
    return NSPersistentHistoryToken(Dictionary(written) { first, _ in first })
  }
}
