internal import Foundation

/// The types that `CAST` makes, by the names of Apple's classes.
package enum CastTarget: String, Sendable, CaseIterable {
  case number = "NSNumber"
  case decimal = "NSDecimalNumber"
  case string = "NSString"
  case date = "NSDate"
  case data = "NSData"
  case uuid = "NSUUID"
  case url = "NSURL"

  /// Whether a cast of a constant is that constant of the other type.
  ///
  /// These are the types whose constants are printed as casts.
  var isFolded: Bool {
    switch self {
    case .date, .data, .uuid, .url, .decimal, .number: true
    case .string: false
    }
  }

  /// The value as another type: dates from and to seconds since 2001, data as Base64.
  ///
  /// Nil if it cannot be one; nil stays nil.
  package func cast(_ value: PredicateValue) -> PredicateValue? {
    if value.isNull { return .null }
    switch self {
    case .number: return number(value)
    case .decimal: return (value.decimal ?? decimal(value)).map(PredicateValue.decimal)
    case .string: return PredicatePrinter.plainText(of: value).map(PredicateValue.string)
    case .date:
      if case .date = value { return value }
      return (value.nearestDouble ?? value.string.flatMap(Double.init)).map {
        .date(Date(timeIntervalSinceReferenceDate: $0))
      }
    case .data:
      if case .data = value { return value }
      return value.string.flatMap { Data(base64Encoded: $0) }.map(PredicateValue.data)
    case .uuid:
      if case .uuid = value { return value }
      return value.string.flatMap(UUID.init(uuidString:)).map(PredicateValue.uuid)
    case .url:
      if case .url = value { return value }
      return value.string.flatMap(URL.init(string:)).map(PredicateValue.url)
    }
  }

  private func number(_ value: PredicateValue) -> PredicateValue? {
    switch value {
    case .date(let date): .double(date.timeIntervalSinceReferenceDate)
    case .string(let text):
      Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double)
    default: value.isNumber ? value : nil
    }
  }

  private func decimal(_ value: PredicateValue) -> Decimal? {
    guard let text = value.string, Double(text) != nil else { return nil }
    return Decimal(string: text)
  }
}
