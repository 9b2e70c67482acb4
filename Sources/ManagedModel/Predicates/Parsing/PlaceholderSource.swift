import Foundation

/// Supplies the arguments of a format to its placeholders, in order.
struct PlaceholderSource {
  /// The reason why an argument isn't valid for a placeholder.
  struct Mismatch: Error {
    let message: String
    let expected: String
    /// Whether there are fewer arguments than placeholders.
    var isMissing = false
  }

  private let arguments: [Any?]
  /// Whether a number must have the placeholder's type, as for C's variable arguments.
  private let isStrict: Bool
  private var used = 0
  /// Whether the last argument was `NSNull`.
  private(set) var tookNull = false

  init(_ arguments: [Any?], strict: Bool) {
    self.arguments = arguments
    isStrict = strict
  }

  /// Returns the next argument for `%K`.
  mutating func keyPath(_ text: String) throws(Mismatch) -> String {
    let argument = try next(for: text)
    guard case .string(let keyPath) = PredicateValue(argument) else {
      throw mismatch(text, argument, expected: "a key path as a string")
    }
    let dot = UInt8(ascii: ".")
    let keys = keyPath.utf8.split(separator: dot, omittingEmptySubsequences: false)
    if keys.contains(where: \.isEmpty) {
      throw Mismatch(message: "“\(keyPath)” isn't a key path", expected: "a key path as a string")
    }
    for key in keys where key.first == UInt8(ascii: "@") {
      let name = String(Substring(key))
      if CollectionOperator(rawValue: name) != nil { continue }
      throw Mismatch(
        message: "\(name) isn't a collection operator",
        expected: CollectionOperator.allCases.map(\.rawValue).joined(separator: " "))
    }
    return keyPath
  }

  /// Returns the next argument for any other placeholder.
  mutating func argument(
    _ placeholder: PredicateToken.Placeholder
  ) throws(Mismatch) -> PredicateValue {
    let text = placeholder.text
    let argument = try next(for: text)
    let value = PredicateValue(constant: argument)
    switch placeholder.kind {
    case .object, .key:
      if isStrict, value.isNumber, !Self.isObject(argument) {
        throw mismatch(
          text, argument,
          expected: "an object: write %ld, %lu, or %la for a Swift number, or pass NSNumber(value:)"
        )
      }
    case .integer, .unsigned:
      guard value.exactInteger != nil || value.isUnsigned, fits(argument, isInteger: true) else {
        throw mismatch(text, argument, expected: "an integer")
      }
    case .floating:
      guard value.isNumber, fits(argument, isInteger: false) else {
        throw mismatch(text, argument, expected: "a floating point number")
      }
    case .character:
      guard value.exactInteger != nil || value.string?.count == 1 else {
        throw mismatch(text, argument, expected: "a character")
      }
    }
    return value
  }

  private mutating func next(for text: String) throws(Mismatch) -> Any? {
    guard used < arguments.count else {
      throw Mismatch(
        message: "\(text) has no argument",
        expected: "at least \(PluralForm.counted(used + 1, "argument")), not \(arguments.count)",
        isMissing: true)
    }
    used += 1
    tookNull = arguments[used - 1] is NSNull
    return arguments[used - 1]
  }

  private func mismatch(_ text: String, _ argument: Any?, expected: String) -> Mismatch {
    let found = argument.map { "\(type(of: $0))" } ?? "nil"
    return Mismatch(message: "the argument for \(text) is \(found)", expected: expected)
  }

  /// Returns whether C would read the argument in the type in which it was passed.
  private func fits(_ argument: Any?, isInteger: Bool) -> Bool {
    guard isStrict, let argument else { return true }
    if argument is Bool { return isInteger }
    return isInteger ? argument is any BinaryInteger : argument is any BinaryFloatingPoint
  }

  private static func isObject(_ argument: Any?) -> Bool {
    guard let argument else { return true }
    return type(of: argument) is AnyClass || argument is Decimal
  }
}

extension PredicateValue {
  /// Whether the value is an integer that exceeds `Int64`.
  var isUnsigned: Bool {
    guard case .decimal(let value) = self else { return false }
    return UInt64("\(value)") != nil
  }
}
