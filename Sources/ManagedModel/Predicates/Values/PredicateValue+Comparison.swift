internal import Foundation

// Comparisons of values of different kinds follow the rules of a column: a constant is converted to
// the kind of the other value, as SQL binds it by the type of the column.
extension PredicateValue {
  /// The kinds of values that can be compared with each other without conversion.
  enum Family {
    case null, number, date, string, url, uuid, data
    /// Collections, dictionaries, and objects, which can only be tested for equality.
    case other
  }

  var family: Family {
    switch self {
    case .null: .null
    case .bool, .integer, .double, .decimal: .number
    case .string: .string
    case .date: .date
    case .data: .data
    case .uuid: .uuid
    case .url: .url
    case .collection, .dictionary, .object, .placeholder: .other
    }
  }

  /// Returns whether two values can be compared without conversion.
  func fits(_ value: PredicateValue) -> Bool {
    let (family, other) = (family, value.family)
    return family == other || family == .null || other == .null || family == .other
      || other == .other
  }

  /// Returns a constant converted to the kind of the value that it's compared with, or `nil` if it
  /// can't be.
  func converted(toFit value: PredicateValue) -> PredicateValue? {
    switch (value.family, family) {
    case (.number, .string): Self.number(of: string ?? "", as: value)
    case (.date, .number):
      nearestDouble.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case (.string, .url), (.string, .uuid), (.string, .number), (.url, .uuid), (.url, .number):
      columnText.map(Self.string)
    case (.url, .string): self
    case (.uuid, .string): string.flatMap(UUID.init(uuidString:)).map(Self.uuid)
    case (.uuid, .data): self
    case (.data, .uuid): bytes.map(Self.data)
    default: nil
    }
  }

  /// The stored form of a row's value, which can be compared with other kinds that a column stores
  /// in the same way: dates as seconds, URLs as text, UUIDs as bytes.
  var asStored: PredicateValue {
    switch self {
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .url(let url): .string(url.absoluteString)
    case .uuid: bytes.map(Self.data) ?? self
    default: self
    }
  }

  /// The value of a string or URL as a string, because both are stored in the same way.
  var searchText: String? {
    switch self {
    case .string(let text): text
    case .url(let url): url.absoluteString
    default: nil
    }
  }

  /// The value as stored in a text column; `nil` if it can't be.
  package var columnText: String? {
    switch self {
    case .string(let text): text
    case .url(let url): url.absoluteString
    case .uuid(let uuid): uuid.uuidString
    case .bool(let value): value ? "1" : "0"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    default: nil
    }
  }

  /// Returns the number in a string, or `nil` if it isn't one.
  package static func number(of text: String) -> PredicateValue? {
    if let integer = Int64(text) { return .integer(integer) }
    let isDecimal = text.utf8.allSatisfy { byte in
      byte.isDigit || "+-.eE".utf8.contains(byte)
    }
    guard isDecimal, let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }

  /// Returns the number in a string, with all digits if it's compared with a decimal.
  private static func number(of text: String, as value: PredicateValue) -> PredicateValue? {
    guard let number = number(of: text) else { return nil }
    guard case .decimal = value else { return number }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(Self.decimal)
      ?? number
  }

  private var bytes: Data? {
    switch self {
    case .data(let data): data
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { Data($0) }
    default: nil
    }
  }
}
