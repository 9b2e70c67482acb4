/// A scanner that separates Swift code from comments and string literals.
struct SwiftText {
  private let bytes: [UInt8]
  private var position = 0
  private var output: [UInt8] = []

  /// Returns the text without comments and the contents of string literals, but with all newlines.
  static func code(of text: String) -> String {
    var scanner = SwiftText(text)
    scanner.scanCode(untilClosingParenthesis: false)
    return String(decoding: scanner.output, as: UTF8.self)
  }

  private init(_ text: String) {
    bytes = Array(text.utf8)
    output.reserveCapacity(bytes.count)
  }

  private func isNext(_ text: StaticString) -> Bool {
    guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
    for offset in 0..<text.utf8CodeUnitCount
    where bytes[position + offset] != text.utf8Start[offset] {
      return false
    }
    return true
  }

  /// Skips one byte, but keeps newlines so that line numbers don't change.
  private mutating func skip() {
    if bytes[position] == UInt8(ascii: "\n") { output.append(bytes[position]) }
    position += 1
  }

  private mutating func scanCode(untilClosingParenthesis: Bool) {
    var depth = 0
    while position < bytes.count {
      if isNext("//") {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
      } else if isNext("/*") {
        scanComment()
      } else if let marks = literalMarks() {
        scanLiteral(marks: marks)
      } else {
        let byte = bytes[position]
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == UInt8(ascii: ")") { depth -= 1 }
        if untilClosingParenthesis, depth < 0 { return }
        output.append(byte)
        position += 1
      }
    }
  }

  private mutating func scanComment() {
    var depth = 0
    repeat {
      if isNext("/*") {
        depth += 1
        position += 2
      } else if isNext("*/") {
        depth -= 1
        position += 2
      } else {
        skip()
      }
    } while depth > 0 && position < bytes.count
  }

  /// Returns the number of `#` before the literal at the position; `nil` if there's no literal.
  private func literalMarks() -> Int? {
    var marks = 0
    while position + marks < bytes.count, bytes[position + marks] == UInt8(ascii: "#") {
      marks += 1
    }
    guard position + marks < bytes.count else { return nil }
    return bytes[position + marks] == UInt8(ascii: "\"") ? marks : nil
  }

  private mutating func scanLiteral(marks: Int) {
    position += marks
    let isLong = isNext("\"\"\"")
    let quotes = isLong ? 3 : 1
    output.append(UInt8(ascii: "\""))
    position += quotes
    while position < bytes.count {
      // A single-line literal ends with its line; this quote was part of a regular expression.
      if !isLong, bytes[position] == UInt8(ascii: "\n") { return }
      if isEnd(quotes: quotes, marks: marks) {
        position += quotes + marks
        output.append(UInt8(ascii: "\""))
        return
      }
      if isEscape(marks: marks) {
        position += 1 + marks
        guard position < bytes.count else { return }
        let opensInterpolation = bytes[position] == UInt8(ascii: "(")
        skip()
        if opensInterpolation { scanInterpolation() }
      } else {
        skip()
      }
    }
  }

  /// Scans the code in an interpolation.
  private mutating func scanInterpolation() {
    output.append(UInt8(ascii: "("))
    scanCode(untilClosingParenthesis: true)
    output.append(UInt8(ascii: ")"))
    if position < bytes.count { position += 1 }
  }

  private func isEnd(quotes: Int, marks: Int) -> Bool {
    guard position + quotes + marks <= bytes.count else { return false }
    return bytes[position..<position + quotes].allSatisfy { $0 == UInt8(ascii: "\"") }
      && bytes[position + quotes..<position + quotes + marks].allSatisfy {
        $0 == UInt8(ascii: "#")
      }
  }

  private func isEscape(marks: Int) -> Bool {
    guard bytes[position] == UInt8(ascii: "\\"), position + marks < bytes.count else {
      return false
    }
    return bytes[position + 1..<position + 1 + marks].allSatisfy { $0 == UInt8(ascii: "#") }
  }
}
