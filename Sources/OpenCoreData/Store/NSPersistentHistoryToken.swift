import ManagedModel

/// A position in the history of stores: everything up to a transaction of each.
///
/// It can be archived. Apple counterpart: the same.
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Sendable {
  /// The number of the last transaction, by the store's identifier.
  let transactions: [String: Int64]

  init(_ transactions: [String: Int64]) {
    self.transactions = transactions
  }

  /// `true`: it contains only a dictionary of strings and numbers.
  public static var supportsSecureCoding: Bool { true }

  private static let key = "NSPersistentHistoryTokenTransactions"

  /// Creates a token from an archive; `nil` if it contains none.
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
    // A dictionary of strings and numbers can always be encoded as JSON.
    let data = (try? JSONEncoder().encode(transactions)) ?? Data("{}".utf8)
    coder.encode(
      NSString(string: String(decoding: data, as: UTF8.self)), forKey: NSPersistentHistoryToken.key)
  }

  /// Returns itself: a token is immutable.
  public func copy(with zone: NSZone?) -> Any { self }

  /// Returns whether both tokens represent the same position.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSPersistentHistoryToken)?.transactions == transactions
  }

  /// A hash consistent with `isEqual`.
  public override var hash: Int { transactions.hashValue }

  /// The store's identifiers with their transactions.
  public override var description: String {
    "<NSPersistentHistoryToken \(transactions)>"
  }
}

extension NSPersistentHistoryToken: PredicateOrdered {
  /// Returns the order of two tokens: one is after another if it's later in any store, and not
  /// earlier in any.
  package func order(relativeTo other: Any) -> ComparisonResult? {
    guard let other = other as? NSPersistentHistoryToken else { return nil }
    // The other may have more stores: those that this one doesn't have are ignored.
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

/// The kind of change to a row.
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
