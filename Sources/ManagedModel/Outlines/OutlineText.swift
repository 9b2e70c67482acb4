import Foundation

/// Converts values of a model to text: default values, and those of `userInfo`.
package enum OutlineText {
  /// The maximum size of data that's written completely, in bytes.
  private static let wholeData = 24

  /// Returns a string that's equal for equal values, and differs for different values of a type.
  ///
  /// The entries of dictionaries are sorted. Data is represented by its content or, if it's long,
  /// by its SHA-256 hash; dates include fractions of a second.
  package static func of(_ value: Any) -> String {
    text(of: value, isMember: false)
  }

  private static func text(of value: Any, isMember: Bool) -> String {
    if let number = floatingPoint(value) { return "\(number)" }
    switch value {
    case let text as String: return isMember ? String(reflecting: text) : text
    case let date as Date: return Self.text(of: date)
    case let data as Data: return Self.text(of: data)
    case let entries as [AnyHashable: Any]:
      if entries.isEmpty { return "[:]" }
      let texts = entries.map { key, value in
        "\(text(of: key.base, isMember: true)): \(text(of: value, isMember: true))"
      }
      return "[\(texts.sorted().joined(separator: ", "))]"
    case let members as [Any]:
      return "[\(members.map { text(of: $0, isMember: true) }.joined(separator: ", "))]"
    default: return "\(value)"
    }
  }

  /// Returns the value of an `NSNumber` whose description could have other digits than a
  /// `Double`'s.
  private static func floatingPoint(_ value: Any) -> Double? {
    guard type(of: value) is AnyClass, let number = value as? NSNumber,
      !(number is NSDecimalNumber), ["d", "f"].contains(String(cString: number.objCType))
    else { return nil }
    return number.doubleValue
  }

  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    // Foundation's description omits fractions, and traps if there's no number.
    guard seconds.isFinite else { return "\(seconds) seconds" }
    return seconds == seconds.rounded() ? "\(date)" : "\(date) (\(seconds) seconds)"
  }

  private static func text(of data: Data) -> String {
    let length = PluralForm.counted(data.count, "byte")
    if data.isEmpty { return length }
    return data.count <= wholeData
      ? "\(length) \(data.base64EncodedString())"
      : "\(length) with the hash \(Data(SHA256.hash(Array(data))).base64EncodedString())"
  }
}
