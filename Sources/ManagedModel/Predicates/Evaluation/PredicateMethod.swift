internal import Foundation

/// An object whose methods `FUNCTION(…)` can call.
package protocol ExpressionOperand: AnyObject {
  /// Calls the method with a selector's name.
  ///
  /// - Throws: An error if there's no such method, or the method fails.
  func callMethod(
    _ selector: String, with arguments: [Any?]
  ) throws(PredicateEvaluationError) -> Any?
}

/// The methods that `FUNCTION(…)` and operators such as `isEqualToString:` can name.
///
/// Linux doesn't have selectors; this type contains the methods that predicates use.
package enum PredicateMethod {
  /// Calls a method of the operand's value.
  static func call(
    _ name: String, on operand: PredicateValue, with arguments: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue {
    if operand.isNull { return .null }
    if case .object(let object) = operand, let target = object.base as? any ExpressionOperand {
      return PredicateValue(try target.callMethod(name, with: arguments.map(\.original)))
    }
    if name == "valueForKeyPath:" || name == "valueForKey:" || name == "objectForKey:",
      let path = arguments.first?.string
    {
      return try KeyPathReader.value(of: PredicateKeyPath(path), from: operand.original)
    }
    if arguments.isEmpty, let value = property(name, of: operand) { return value }
    let result: PredicateValue?
    switch operand {
    case .string(let text): result = try string(name, text, arguments)
    case .date(let date): result = Self.date(name, date, arguments)
    default: result = nil
    }
    if let result { return result }
    if name.hasPrefix("isEqual"), arguments.count == 1 {
      return .bool(operand == arguments[0])
    }
    throw .unknownMethod(name, type: operand.kindText)
  }

  /// Returns the result of a method that's used as an operator, such as
  /// `self isKindOfClass: "Mood"`.
  static func test(
    _ name: String, _ left: PredicateValue, _ right: PredicateValue
  ) throws(PredicateEvaluationError) -> Bool {
    if name == "isKindOfClass:" || name == "isMemberOfClass:" {
      guard let wanted = className(right) else {
        throw .wrongOperand(right.kindText, operator: name)
      }
      return isInstance(left, of: wanted, orSubclass: name == "isKindOfClass:")
    }
    let result = try call(name, on: left, with: [right])
    return result.exactInteger.map { $0 != 0 } ?? false
  }

  private static func className(_ value: PredicateValue) -> String? {
    if let name = value.string { return name }
    if case .object(let object) = value, let type = object.base as? Any.Type { return "\(type)" }
    return nil
  }

  private static func isInstance(
    _ value: PredicateValue, of name: String, orSubclass: Bool
  ) -> Bool {
    guard let object = value.original else { return false }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      let type = current.subjectType
      if "\(type)" == name || String(reflecting: type) == name { return true }
      mirror = orSubclass ? current.superclassMirror : nil
    }
    return false
  }

  /// Returns a property of Foundation's class for the value, or `nil` if it has no such property.
  static func property(_ name: String, of value: PredicateValue) -> PredicateValue? {
    switch value {
    case .string(let text): property(name, of: text)
    case .bool, .integer, .double, .decimal: property(name, ofNumber: value)
    case .date(let date):
      switch name {
      case "timeIntervalSinceReferenceDate": .double(date.timeIntervalSinceReferenceDate)
      case "timeIntervalSince1970": .double(date.timeIntervalSince1970)
      case "timeIntervalSinceNow": .double(date.timeIntervalSinceNow)
      default: nil
      }
    case .data(let data): name == "length" ? .integer(Int64(data.count)) : nil
    case .uuid(let uuid): name == "UUIDString" ? .string(uuid.uuidString) : nil
    case .url(let url): name == "absoluteString" ? .string(url.absoluteString) : nil
    case .collection(let collection):
      switch name {
      case "count": .integer(Int64(collection.elements.count))
      case "firstObject": collection.elements.first ?? .null
      case "lastObject": collection.elements.last ?? .null
      default: nil
      }
    default: nil
    }
  }

  private static func property(_ name: String, of text: String) -> PredicateValue? {
    switch name {
    case "length": .integer(Int64(text.utf16.count))
    case "uppercaseString": .string(text.uppercased())
    case "lowercaseString": .string(text.lowercased())
    case "capitalizedString": .string(text.capitalized)
    case "integerValue", "longLongValue": .integer(text.leadingInteger)
    case "intValue": .integer(Int64(Int32(clamping: text.leadingInteger)))
    case "doubleValue", "floatValue": .double(text.leadingNumber)
    case "boolValue": .bool(NSString(string: text).boolValue)
    case "description": .string(text)
    case "lastPathComponent": .string(NSString(string: text).lastPathComponent)
    case "pathExtension": .string(NSString(string: text).pathExtension)
    case "stringByDeletingPathExtension": .string(NSString(string: text).deletingPathExtension)
    case "stringByDeletingLastPathComponent": .string(text.deletingLastPathComponent)
    default: nil
    }
  }

  private static func property(
    _ name: String, ofNumber value: PredicateValue
  ) -> PredicateValue? {
    switch name {
    case "stringValue", "description": .string(PredicatePrinter.text(of: value))
    case "doubleValue", "floatValue": value.nearestDouble.map(PredicateValue.double)
    case "integerValue", "intValue", "longLongValue":
      .integer(value.exactInteger ?? Int64(clamping: value.nearestDouble ?? 0))
    case "boolValue": value.nearestDouble.map { .bool($0 != 0) }
    default: nil
    }
  }

  private static func string(
    _ name: String, _ text: String, _ arguments: [PredicateValue]
  ) throws(PredicateEvaluationError) -> PredicateValue? {
    if arguments.count == 1, let index = arguments[0].exactInteger,
      let result = try string(name, text, at: index)
    {
      return result
    }
    return switch (name, arguments.count) {
    case ("stringByAppendingString:", 1): arguments[0].string.map { .string(text + $0) }
    case ("stringByAppendingPathComponent:", 1):
      arguments[0].string.map { .string(NSString(string: text).appendingPathComponent($0)) }
    case ("stringByReplacingOccurrencesOfString:withString:", 2):
      if let old = arguments[0].string, let new = arguments[1].string {
        .string(text.replacingAll(old, with: new))
      } else {
        nil
      }
    case ("hasPrefix:", 1): arguments[0].string.map { .bool(text.hasPrefix($0)) }
    case ("hasSuffix:", 1): arguments[0].string.map { .bool(text.hasSuffix($0)) }
    case ("containsString:", 1):
      arguments[0].string.map { .bool(StringMatching.isFound($0, in: text, [], nil)) }
    case ("localizedStandardContainsString:", 1):
      arguments[0].string.map { part in
        .bool(
          StringMatching.isFound(
            part, in: text, [.caseInsensitive, .diacriticInsensitive], Locale.current))
      }
    default: nil
    }
  }

  /// Returns the result of a string method with an index, or `nil` for other methods.
  private static func string(
    _ name: String, _ text: String, at index: Int64
  ) throws(PredicateEvaluationError) -> PredicateValue? {
    let isCharacter = name == "characterAtIndex:"
    guard isCharacter || name == "substringFromIndex:" || name == "substringToIndex:" else {
      return nil
    }
    let units = Array(text.utf16)
    let isPrefix = name == "substringToIndex:"
    guard index >= 0, isPrefix || index < units.count + (isCharacter ? 0 : 1) else {
      throw .failed(
        name,
        reason: "the index \(index) is outside of a string of "
          + PluralForm.counted(units.count, "character"))
    }
    if isCharacter { return .integer(Int64(units[Int(index)])) }
    let part = isPrefix ? units.prefix(Int(index)) : units[Int(index)...]
    return .string(String(decoding: part, as: UTF16.self))
  }

  private static func date(
    _ name: String, _ date: Date, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (name, arguments.first) {
    case ("dateByAddingTimeInterval:", let seconds?):
      seconds.nearestDouble.map { .date(date.addingTimeInterval($0)) }
    case ("timeIntervalSinceDate:", .date(let other)):
      .double(date.timeIntervalSince(other))
    default: nil
    }
  }
}

extension Int64 {
  /// Creates the integer part of a number, clamped to the bounds; 0 for NaN.
  fileprivate init(clamping number: Double) {
    self =
      Int64(exactly: number.rounded(.towardZero))
      ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
  }
}

extension String {
  // Foundation's scanner, which `NSString` uses for these numbers, traps for a character outside of
  // the Basic Multilingual Plane, such as an emoji.

  /// The integer with which the text begins after white space, clamped to the bounds; 0 without
  /// one.
  fileprivate var leadingInteger: Int64 {
    let text = drop { $0.isWhitespace }.utf8
    let sign = text.prefix(1).filter(Self.isSign)
    let digits = String(Substring(text.dropFirst(sign.count).prefix(while: \.isDigit)))
    let isNegative = sign.first == UInt8(ascii: "-")
    if digits.isEmpty { return 0 }
    return Int64((isNegative ? "-" : "") + digits) ?? (isNegative ? .min : .max)
  }

  /// The decimal number with which the text begins after white space; 0 without one.
  fileprivate var leadingNumber: Double {
    let text = Array(drop { $0.isWhitespace }.utf8)
    var end = text.prefix(1).filter(Self.isSign).count
    let start = end
    end += text[end...].prefix(while: \.isDigit).count
    if end < text.count, text[end] == UInt8(ascii: ".") {
      end += 1 + text[(end + 1)...].prefix(while: \.isDigit).count
    }
    guard text[start..<end].contains(where: \.isDigit) else { return 0 }
    if end < text.count, text[end] | 0x20 == UInt8(ascii: "e") {
      let exponent = end + 1 + text[(end + 1)...].prefix(1).filter(Self.isSign).count
      let digits = text[exponent...].prefix(while: \.isDigit).count
      if digits > 0 { end = exponent + digits }
    }
    return Double(String(decoding: text[..<end], as: UTF8.self)) ?? 0
  }

  /// Returns the text with a string instead of another one.
  ///
  /// Foundation traps for a NUL in the string to replace, so that is found scalar by scalar.
  fileprivate func replacingAll(_ old: String, with new: String) -> String {
    old.utf8.contains(0)
      ? String(unicodeScalars.replacing(old.unicodeScalars, with: new.unicodeScalars))
      : replacingOccurrences(of: old, with: new)
  }

  private static func isSign(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
  }
}
