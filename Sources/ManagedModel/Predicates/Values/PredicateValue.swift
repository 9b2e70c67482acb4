internal import Foundation

/// A value as predicates see it: every type that means the same is one case.
///
/// Equality is that of the `==` operator without options: numbers are equal by value whatever
/// their type, strings byte by byte.
package enum PredicateValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  /// Also unsigned integers beyond `Int64.max`.
  case decimal(Decimal)
  case string(String)
  case date(Date)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case collection(PredicateCollection)
  indirect case dictionary([String: PredicateValue], original: Any)
  /// A managed object, its ID or a value of a type that only its own equality knows.
  indirect case object(PredicateObject)
  /// `%@`, `%d` …, in a format that was parsed without arguments. It has no value.
  case placeholder(String)
}

extension PredicateValue {
  /// Whether there is no value.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether it is a Boolean or a number.
  package var isNumber: Bool {
    switch self {
    case .bool, .integer, .double, .decimal: true
    default: false
    }
  }

  /// The text of a string.
  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// Whether it is a single value with a text of its own.
  var isScalar: Bool {
    switch self {
    case .collection, .dictionary, .object, .placeholder: false
    default: true
    }
  }

  /// Whether its hash value stays as it is.
  var isStable: Bool {
    switch self {
    case .object(let object): object.reference?.hasStableIdentity ?? true
    case .dictionary, .collection: false
    default: true
    }
  }

  /// The value as Apple's API hands it out: numbers as `NSNumber`, which casts to any Swift number
  /// type that holds it exactly; the rest as `original`.
  package var boxed: Any? {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): NSDecimalNumber(decimal: value)
    case .collection(let collection): collection.boxed
    default: original
    }
  }

  /// The value for Swift: integers as `Int64`, collections as `[Any]`, nils inside as `NSNull`.
  package var original: Any? {
    switch self {
    case .null: nil
    case .bool(let value): value
    case .integer(let value): value
    case .double(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .collection(let collection): collection.elements.map { $0.original ?? NSNull() }
    case .dictionary(_, let original): original
    case .object(let object): object.base
    case .placeholder(let text): text
    }
  }

  /// As `original`, but a collection stays one that knows whether it has an order.
  package var carried: Any? {
    if case .collection(let collection) = self { collection } else { original }
  }

  /// What it is, for messages: `a string`, `a number`.
  var kindText: String {
    switch self {
    case .null: "nil"
    case .bool: "a Boolean"
    case .integer, .double, .decimal: "a number"
    case .string: "a string"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .collection: "a collection"
    case .dictionary: "a dictionary"
    case .object(let object): "a \(type(of: object.base))"
    case .placeholder(let text): "the placeholder \(text)"
    }
  }
}
