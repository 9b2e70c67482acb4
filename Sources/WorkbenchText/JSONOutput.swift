package import Foundation
import OpenCoreData

/// JSON as this program writes it: sorted keys, two spaces a level, a newline at its end.
///
/// Characters that would act on a terminal are escaped inside strings (`PrintableText`), so JSON can be
/// printed as it is, and a parser still reads the exact value.
package enum JSONOutput {
  /// One key or element a line.
  ///
  /// - Throws: the encoder's error, for a number that JSON does not have.
  package static func lines(_ value: some Encodable) throws -> Data {
    let json = [UInt8](try encoder([.prettyPrinted]).encode(value))
    return Data(PrintableText.escaped(json: json) + [UInt8(ascii: "\n")])
  }

  /// Objects and lists without nested ones on one line, so that many small ones are readable.
  ///
  /// - Throws: as `lines`.
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

/// Lays compact JSON out in lines: an object or list without nested ones is on one line.
struct JSONLayout {
  private var result: [UInt8] = []
  private var depth = 0
  /// Whether the innermost container is on one line.
  private var isFlat = false

  /// The same JSON, indented by two blanks, with a newline at its end.
  ///
  /// - Parameter json: valid, without blanks between its tokens.
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

  /// For the index of each opening bracket, whether nothing nested follows it.
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

  /// Tells bytes inside of quotation marks from those outside.
  private struct TextScan {
    private var isOpen = false
    private var isEscaped = false

    /// Whether the next byte is part of a string, including its quotation marks.
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

/// One JSON object on one line, put together key by key: for reports of very many small objects.
package struct JSONFields {
  private(set) var text = "{"

  /// An object without keys.
  package init() {}

  /// The whole object.
  package var object: String { text + "}" }

  /// Adds a string; nothing for nil.
  package mutating func add(_ key: StaticString, _ value: String?) {
    if let value { add(raw: key, JSONText.quoted(value)) }
  }

  /// Adds a number; nothing for nil.
  package mutating func add(_ key: StaticString, _ number: Int?) {
    if let number { add(raw: key, String(number)) }
  }

  /// Adds a number.
  package mutating func add(_ key: StaticString, _ number: UInt64) {
    add(raw: key, String(number))
  }

  /// Adds nanoseconds as microseconds with three places.
  package mutating func add(_ key: StaticString, microseconds nanoseconds: UInt64) {
    let rest = String(nanoseconds % 1_000)
    let places = String(repeating: "0", count: 3 - rest.count) + rest
    add(raw: key, "\(nanoseconds / 1_000).\(places)")
  }

  /// Adds an object.
  package mutating func add(_ key: StaticString, _ object: JSONFields) {
    add(raw: key, object.object)
  }

  private mutating func add(raw key: StaticString, _ value: String) {
    if text.utf8.count > 1 { text += "," }
    text += "\"\(key)\":\(value)"
  }
}

/// Texts as JSON writes them.
package enum JSONText {
  /// Returns a string in quotation marks.
  ///
  /// Escaped are what JSON requires and what would act on a terminal.
  package static func quoted(_ text: String) -> String {
    var result = "\""
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
    return result + "\""
  }
}
