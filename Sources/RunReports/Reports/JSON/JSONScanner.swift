import WorkbenchText

/// Scans JSON token by token to find the position of a value or an error.
struct JSONScanner {
  /// A syntax error or an exceeded limit, and its byte offset.
  struct SyntaxError: Error {
    var message: String
    var offset: Int
  }

  /// A component of the path to a value.
  enum PathComponent: Equatable {
    case key(String)
    case index(Int)
  }

  private let bytes: [UInt8]
  private var position = 0
  /// The path of the value to find; `nil` to only check the syntax.
  private let wanted: [PathComponent]?
  private var path: [PathComponent] = []
  private var found: Int?
  private var sum = 0.0

  private init(_ bytes: [UInt8], wanted: [PathComponent]?) {
    self.bytes = bytes
    self.wanted = wanted
  }

  /// Returns the first error in JSON, or `nil` if it's valid.
  static func firstError(in bytes: [UInt8]) -> SyntaxError? {
    var scanner = JSONScanner(bytes, wanted: nil)
    do {
      try scanner.value()
      scanner.skipWhitespace()
      return scanner.position == bytes.count
        ? nil : SyntaxError(message: "unexpected data after the end", offset: scanner.position)
    } catch {
      return error
    }
  }

  /// Returns the byte offset of the value at a path, or `nil` if nothing is there.
  static func offset(of path: [PathComponent], in bytes: [UInt8]) -> Int? {
    var scanner = JSONScanner(bytes, wanted: path)
    // `firstError(in:)` has checked the syntax.
    try? scanner.value()
    return scanner.found
  }

  private mutating func value() throws(SyntaxError) {
    skipWhitespace()
    if path == wanted, found == nil { found = position }
    guard position < bytes.count else { throw error("expected a value, but the text ends here") }
    guard path.count <= InputLimits.jsonDepth else {
      throw error(
        "objects and arrays are nested too deeply; the limit is \(InputLimits.jsonDepth) levels")
    }
    switch bytes[position] {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try array()
    case UInt8(ascii: "\""): _ = try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw error("expected a value")
    }
  }

  private mutating func object() throws(SyntaxError) {
    position += 1
    if isNext("}") { return }
    repeat {
      skipWhitespace()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw error("expected a key in quotation marks")
      }
      path.append(.key(try text()))
      guard isNext(":") else { throw error("expected a colon") }
      try value()
      path.removeLast()
    } while isNext(",")
    guard isNext("}") else { throw error("expected a comma or }") }
  }

  private mutating func array() throws(SyntaxError) {
    position += 1
    if isNext("]") { return }
    var index = 0
    repeat {
      path.append(.index(index))
      try value()
      path.removeLast()
      index += 1
    } while isNext(",")
    guard isNext("]") else { throw error("expected a comma or ]") }
  }

  /// Reads a string without resolving its escapes; the keys of a result contain none.
  private mutating func text() throws(SyntaxError) -> String {
    let start = position
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      guard bytes[position] >= 0x20 else { break }
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
      throw SyntaxError(message: "the string that starts here isn't terminated", offset: start)
    }
    position += 1
    return String(decoding: bytes[(start + 1)..<(position - 1)], as: UTF8.self)
  }

  /// Reads a number, and checks it and the sum of all numbers against their limits.
  ///
  /// The limits rule out an overflow when numbers of a result are added.
  private mutating func number() throws(SyntaxError) {
    let start = position
    while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) { position += 1 }
    guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)) else {
      throw SyntaxError(message: "expected a number", offset: start)
    }
    // A seed can be any 64-bit integer; it's never added to anything.
    guard path.last != .key("seed") else { return }
    sum += abs(number)
    let limit = InputLimits.value
    guard abs(number) <= Double(limit), sum <= 1_000 * Double(limit) else {
      throw SyntaxError(
        message:
          "a number exceeds the limit, \(NumberText.grouped(limit)), or the sum of all numbers "
          + "exceeds a thousand times that", offset: start)
    }
  }

  private mutating func word(_ word: StaticString) throws(SyntaxError) {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual("\(word)".utf8) else {
      throw error("expected a value")
    }
    position = end
  }

  /// Skips a punctuation mark if it comes next, and returns whether it did.
  private mutating func isNext(_ mark: Unicode.Scalar) -> Bool {
    skipWhitespace()
    guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
    position += 1
    return true
  }

  private mutating func skipWhitespace() {
    while position < bytes.count, " \t\r\n".utf8.contains(bytes[position]) { position += 1 }
  }

  private func error(_ message: String) -> SyntaxError {
    SyntaxError(message: message, offset: position)
  }
}
