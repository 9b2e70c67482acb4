internal import Foundation

extension PredicateValue: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.string(let left), .string(let right)):
      left.hasSameBytes(as: right)
    case (.integer(let left), .integer(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.url(let left), .url(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.collection(let left), .collection(let right)): left == right
    case (.dictionary(let left, _), .dictionary(let right, _)): left == right
    case (.placeholder(let left), .placeholder(let right)): left == right
    default:
      left.isNumber && right.isNumber && compareNumbers(left, right) == .orderedSame
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool, .integer, .double, .decimal: hasher.combine(nearestDouble)
    case .string(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .url(let value): hasher.combine(value)
    case .collection(let value): hasher.combine(value)
    case .dictionary(let value, _): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .placeholder(let value): hasher.combine(value)
    }
  }

  /// The order of two values of one kind without string options; nil if there is none.
  ///
  /// Strings and data are ordered by their bytes, as SQLite orders them; UUIDs as their 16 bytes.
  package static func compare(_ left: Self, _ right: Self) -> ComparisonResult? {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): order(left, right)
    case (.string(let left), .string(let right)): left.orderOfBytes(and: right)
    case (.date(let left), .date(let right)): order(left, right)
    case (.data(let left), .data(let right)): bytes(left, right)
    case (.uuid(let left), .uuid(let right)):
      bytes(left.uuidString.utf8, right.uuidString.utf8)
    case (.url(let left), .url(let right)):
      bytes(left.absoluteString.utf8, right.absoluteString.utf8)
    case (.object(let left), .object(let right)):
      (left.base as? any PredicateOrdered)?.order(besides: right.base)
    default: left.isNumber && right.isNumber ? compareNumbers(left, right) : nil
    }
  }

  /// A total order for sorting: nil first, then by kind, then by value.
  static func order(_ left: Self, _ right: Self) -> ComparisonResult {
    if left.rank != right.rank { return order(left.rank, right.rank) }
    return compare(left, right) ?? .orderedSame
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool, .integer, .double, .decimal: 1
    case .string: 2
    case .date: 3
    case .data: 4
    case .uuid: 5
    case .url: 6
    case .collection: 7
    case .dictionary: 8
    case .object: 9
    case .placeholder: 10
    }
  }

  private static func order<T: Comparable>(_ left: T, _ right: T) -> ComparisonResult {
    left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
  }

  private static func bytes<T: Sequence>(
    _ left: T, _ right: T
  ) -> ComparisonResult where T.Element == UInt8 {
    var others = right.makeIterator()
    for byte in left {
      guard let other = others.next() else { return .orderedDescending }
      if byte != other { return byte < other ? .orderedAscending : .orderedDescending }
    }
    return others.next() == nil ? .orderedSame : .orderedAscending
  }
}
