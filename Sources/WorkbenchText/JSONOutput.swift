package import Foundation
import ManagedModel

/// Encodes JSON with sorted keys, an indentation of two spaces, and a final line feed.
///
/// Control characters and bidirectional marks in strings are escaped (`PrintableText`), so the JSON
/// is safe to print on a terminal, and a parser still reads the exact values.
package enum JSONOutput {
  /// Returns JSON with one key or element per line.
  ///
  /// - Throws: An `EncodingError` for a number that JSON can't represent.
  package static func lines(_ value: some Encodable) throws -> Data {
    let json = [UInt8](try encoder([.prettyPrinted]).encode(value))
    return Data(PrintableText.escaped(json: json) + [UInt8(ascii: "\n")])
  }

  /// Returns JSON with each object or array that contains no other on one line.
  ///
  /// - Throws: An `EncodingError` for a number that JSON can't represent.
  package static func flat(_ value: some Encodable) throws -> Data {
    let json = [UInt8](try encoder([]).encode(value))
    return Data(JSONLayout.bytes(of: PrintableText.escaped(json: json)))
  }

  private static func encoder(_ layout: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
    return encoder
  }
}

/// Formats compact JSON in lines; an object or array that contains no other is on one line.
struct JSONLayout {
  private var result: [UInt8] = []
  private var depth = 0
  /// Whether the innermost container is on one line.
  private var isFlat = false

  /// Returns formatted JSON, indented by two spaces, with a final line feed.
  ///
  /// - Parameter json: Valid JSON without spaces between its tokens.
  static func bytes(of json: [UInt8]) -> [UInt8] {
    var layout = JSONLayout()
    layout.result.reserveCapacity(json.count * 3 / 2)
    let flat = flatContainers(in: json)
    var scan = TextScan()
    for (index, byte) in json.enumerated() {
      if scan.isInText(byte) {
        layout.result.append(byte)
      } else {
        layout.add(byte, isFlat: flat[index])
      }
    }
    layout.result.append(UInt8(ascii: "\n"))
    return layout.result
  }

  private mutating func add(_ byte: UInt8, isFlat: Bool) {
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      result.append(byte)
      self.isFlat = isFlat
      if !isFlat {
        depth += 1
        breakLine()
      }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if !self.isFlat {
        depth -= 1
        breakLine()
      }
      self.isFlat = false
      result.append(byte)
    case UInt8(ascii: ","):
      result.append(byte)
      if self.isFlat { result.append(UInt8(ascii: " ")) } else { breakLine() }
    case UInt8(ascii: ":"):
      result += [byte, UInt8(ascii: " ")]
    default:
      result.append(byte)
    }
  }

  private mutating func breakLine() {
    result.append(UInt8(ascii: "\n"))
    result.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
  }

  /// Returns, for the index of each opening bracket, whether its container contains no other.
  private static func flatContainers(in json: [UInt8]) -> [Bool] {
    var flat = [Bool](repeating: false, count: json.count)
    var open: [Int] = []
    var scan = TextScan()
    for (index, byte) in json.enumerated() where !scan.isInText(byte) {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if let outer = open.last { flat[outer] = false }
        flat[index] = true
        open.append(index)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        open.removeLast()
      default: break
      }
    }
    return flat
  }

  /// Distinguishes bytes in strings from those outside.
  private struct TextScan {
    private var isOpen = false
    private var isEscaped = false

    /// Returns whether the next byte is part of a string, including its quotation marks.
    mutating func isInText(_ byte: UInt8) -> Bool {
      guard isOpen else {
        isOpen = byte == UInt8(ascii: "\"")
        return isOpen
      }
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isOpen = false
      }
      return true
    }
  }
}

/// Builds a JSON object on one line, key by key, for reports of many small objects.
package struct JSONFields {
  private(set) var text = "{"

  /// Creates an object without keys.
  package init() {}

  /// The object as JSON.
  package var object: String { text + "}" }

  /// Adds a string, unless it's `nil`.
  package mutating func add(_ key: StaticString, _ value: String?) {
    if let value { add(raw: key, JSONText.quoted(value)) }
  }

  /// Adds a number, unless it's `nil`.
  package mutating func add(_ key: StaticString, _ number: Int?) {
    if let number { add(raw: key, String(number)) }
  }

  /// Adds a number.
  package mutating func add(_ key: StaticString, _ number: UInt64) {
    add(raw: key, String(number))
  }

  /// Adds nanoseconds as microseconds with three decimal places.
  package mutating func add(_ key: StaticString, microseconds nanoseconds: UInt64) {
    let rest = String(nanoseconds % 1_000)
    let decimals = String(repeating: "0", count: 3 - rest.count) + rest
    add(raw: key, "\(nanoseconds / 1_000).\(decimals)")
  }

  /// Adds an object.
  package mutating func add(_ key: StaticString, _ object: JSONFields) {
    add(raw: key, object.object)
  }

  /// Adds a Boolean value, unless it's `nil`.
  package mutating func add(_ key: StaticString, _ flag: Bool?) {
    if let flag { add(raw: key, String(flag)) }
  }

  /// Adds a list of strings.
  package mutating func add(_ key: StaticString, texts: [String]) {
    add(raw: key, "[\(texts.map(JSONText.quoted).joined(separator: ","))]")
  }

  /// Adds an object of strings, with its keys in order.
  package mutating func add(_ key: StaticString, texts: [(key: String, value: String)]) {
    let pairs = texts.map { "\(JSONText.quoted($0.key)):\(JSONText.quoted($0.value))" }
    add(raw: key, "{\(pairs.joined(separator: ","))}")
  }

  /// Adds a list of objects.
  package mutating func add(_ key: StaticString, _ objects: [JSONFields]) {
    add(raw: key, "[\(objects.map(\.object).joined(separator: ","))]")
  }

  /// Adds an object of numbers, with sorted keys.
  package mutating func add(_ key: StaticString, numbers: [String: Int]) {
    let pairs = numbers.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0)):\($1)" }
    add(raw: key, "{\(pairs.joined(separator: ","))}")
  }

  private mutating func add(raw key: StaticString, _ value: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\"\(key)\":\(value)"
  }
}

/// Formats strings as JSON.
package enum JSONText {
  /// Returns a string in quotation marks.
  ///
  /// The characters that JSON requires to be escaped, control characters, and bidirectional marks
  /// are escaped.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    append(text, to: &result)
    return result + "\""
  }

  /// Returns what `quoted(_:)` has between the quotation marks.
  ///
  /// The text of the parts of a string, joined, is that of the string.
  static func escaped(_ text: String) -> String {
    var result = ""
    append(text, to: &result)
    return result
  }

  private static func append(_ text: String, to result: inout String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where PrintableText.isUnsafe(scalar): result += PrintableText.jsonEscape(of: scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
