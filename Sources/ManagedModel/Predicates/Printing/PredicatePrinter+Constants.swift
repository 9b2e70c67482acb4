internal import Foundation

extension PredicatePrinter {
  /// A constant as a format writes it.
  ///
  /// Dates, data, UUIDs and URLs are casts.
  package static func text(of value: PredicateValue) -> String {
    switch value {
    case .null: "nil"
    case .bool(let value): value ? "1" : "0"
    case .integer(let value): String(value)
    case .double(let value): number(value)
    case .decimal(let value): number(value)
    case .string(let value): quoted(value)
    case .date(let value):
      "CAST(" + seconds(value.timeIntervalSinceReferenceDate) + ", \"NSDate\")"
    case .data(let value): "CAST(" + quoted(value.base64EncodedString()) + ", \"NSData\")"
    case .uuid(let value): "CAST(" + quoted(value.uuidString) + ", \"NSUUID\")"
    case .url(let value): "CAST(" + quoted(value.absoluteString) + ", \"NSURL\")"
    case .collection(let collection):
      "{" + collection.elements.map(text).joined(separator: ", ") + "}"
    case .dictionary(_, let original): "\(original)"
    case .object(let object): "\(object.base)"
    case .placeholder(let text): text
    }
  }

  /// A value as plain text, for `CAST(…, "NSString")`; nil for what has none.
  static func plainText(of value: PredicateValue) -> String? {
    switch value {
    case .string(let text): text
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .date(let value): seconds(value.timeIntervalSinceReferenceDate)
    case .data(let value): value.base64EncodedString()
    default: value.isNumber ? text(of: value) : nil
    }
  }

  static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// Whole numbers without a fraction, as Apple prints them.
  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), abs(value) < 0x1p53 { return String(whole) }
    return value.isFinite ? "\(value)" : "CAST(\"\(value)\", \"NSNumber\")"
  }

  /// Digits, if the parser reads them back without loss.
  private static func number(_ value: Decimal) -> String {
    let text = "\(value)"
    if let double = Double(text), Decimal(string: "\(double)") == value { return text }
    return text.utf8.count > 15 ? text : "CAST(" + quoted(text) + ", \"NSDecimalNumber\")"
  }

  /// Six digits after the point, as Apple prints them, unless that loses something.
  private static func seconds(_ value: TimeInterval) -> String {
    let fixed = String(format: "%.6f", value)
    return Double(fixed) == value ? fixed : "\(value)"
  }
}
