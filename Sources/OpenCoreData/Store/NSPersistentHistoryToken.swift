import ManagedModel

/// A place in the history of stores: everything up to a transaction of each.
///
/// It can be archived and kept. Apple counterpart: the same.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// The number of the last transaction, by the store's identifier.
  let transactions: [String: Int64]

  init(_ transactions: [String: Int64]) {
    self.transactions = transactions
  }

  /// True: it holds a dictionary of texts and numbers alone.
  public static var supportsSecureCoding: Bool { true }

  private static let key = "NSPersistentHistoryTokenTransactions"

  /// Reads an archived token; nil when it is none.
  public init?(coder: NSCoder) {
    guard
      let text = coder.decodeObject(of: NSString.self, forKey: NSPersistentHistoryToken.key),
      let values = try? JSONDecoder().decode(
        [String: Int64].self, from: Data((text as String).utf8))
    else { return nil }
    transactions = values
  }

  /// Writes the token into an archive.
  public func encode(with coder: NSCoder) {
    // A dictionary of texts and numbers always has a form in JSON.
    let data = (try? JSONEncoder().encode(transactions)) ?? Data("{}".utf8)
    coder.encode(
      NSString(string: String(decoding: data, as: UTF8.self)), forKey: NSPersistentHistoryToken.key)
  }

  /// Itself: a token never changes.
  public func copy(with zone: NSZone?) -> Any { self }

  /// Equal tokens name the same place.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.transactions == transactions
  }

  /// Follows `isEqual`.
  public override var hash: Int { transactions.hashValue }

  /// The store's identifiers with their transactions.
  public override var description: String {
    "<NSPersistentHistoryToken \(transactions)>"
  }
}

extension NSPersistentHistoryToken: PredicateOrdered {
  /// A token is after another if it has seen more of any store, and less of none.
  package func order(besides other: Any) -> ComparisonResult? {
    guard let other = other as? NSPersistentHistoryToken else { return nil }
    // The other may know of more stores: those that it doesn't share say nothing.
    let orders = transactions.map { store, number -> ComparisonResult in
      let seen = other.transactions[store] ?? 0
      return number < seen ? .orderedAscending : number > seen ? .orderedDescending : .orderedSame
    }
    let isBefore = orders.contains(.orderedAscending)
    let isAfter = orders.contains(.orderedDescending)
    if isBefore, isAfter { return nil }
    return isBefore ? .orderedAscending : isAfter ? .orderedDescending : .orderedSame
  }
}

/// What happened to a row.
///
/// Apple counterpart: the same.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// It was inserted.
  case insert = 0
  /// It was updated.
  case update = 1
  /// It was deleted.
  case delete = 2
}
