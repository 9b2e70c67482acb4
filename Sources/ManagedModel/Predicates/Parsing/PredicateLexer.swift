/// Splits a predicate format into tokens.
///
/// It processes UTF-8 bytes; columns are counted in characters only when an error needs one.
struct PredicateLexer {
  let format: String
  let bytes: [UInt8]
  var position = 0

  init(_ format: String) {
    self.format = format
    bytes = Array(format.utf8)
  }

  /// Returns all tokens, of which the last is `.end`.
  static func tokens(of format: String) throws(PredicateSyntaxError) -> [PredicateToken] {
    var lexer = PredicateLexer(format)
    var tokens: [PredicateToken] = []
    tokens.reserveCapacity(lexer.bytes.count / 4 + 2)
    repeat {
      tokens.append(try lexer.next())
    } while tokens[tokens.count - 1].kind != .end
    return tokens
  }

  /// Returns the column of a byte, in characters and counted from 1.
  static func column(of offset: Int, in format: String) -> Int {
    let utf8 = format.utf8
    let end = utf8.index(utf8.startIndex, offsetBy: min(offset, utf8.count))
    return format[..<end].count + 1
  }

  private func byte(_ ahead: Int = 0) -> UInt8 {
    position + ahead < bytes.count ? bytes[position + ahead] : 0
  }

  private mutating func next() throws(PredicateSyntaxError) -> PredicateToken {
    while position < bytes.count, bytes[position].isSpace { position += 1 }
    let start = position
    guard position < bytes.count else {
      return PredicateToken(kind: .end, start: start, end: start)
    }
    let kind = try kind()
    return PredicateToken(kind: kind, start: start, end: position)
  }

  private mutating func kind() throws(PredicateSyntaxError) -> PredicateToken.Kind {
    let first = byte()
    if first.isIdentifierHead { return word() }
    if first.isDigit || first == .dot && byte(1).isDigit && !followsValue { return number() }
    switch first {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .string(try string(quote: first))
    case UInt8(ascii: "%") where byte(1) == first: return .symbol(try symbol())
    case UInt8(ascii: "%"): return .placeholder(try placeholder())
    case UInt8(ascii: "$"): return .variable(try name(after: "$", meaning: "a variable's name"))
    case UInt8(ascii: "#"): return .escaped(try name(after: "#", meaning: "a key"))
    case UInt8(ascii: "@"):
      return .collectionOperator("@" + (try name(after: "@", meaning: "an operator such as count")))
    default: return .symbol(try symbol())
    }
  }

  /// Whether the previous byte ends a value, so that a dot begins a key and not a fraction.
  private var followsValue: Bool {
    guard position > 0 else { return false }
    let before = bytes[position - 1]
    return before.isIdentifierPart || before == UInt8(ascii: ")") || before == UInt8(ascii: "]")
  }

  private mutating func identifier() -> String {
    let start = position
    while byte().isIdentifierPart { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func word() -> PredicateToken.Kind {
    let start = position
    var text = identifier()
    if text.utf8.count == 3, text.lowercased() == "uti", byte() == UInt8(ascii: "-") {
      position += 1
      while byte().isIdentifierPart || byte() == UInt8(ascii: "-") { position += 1 }
      return .identifier(String(decoding: bytes[start..<position], as: UTF8.self))
    }
    guard byte() == UInt8(ascii: ":") else { return .identifier(text) }
    while byte() == UInt8(ascii: ":") {
      position += 1
      text += ":"
      let mark = position
      let part = identifier()
      if byte() == UInt8(ascii: ":") {
        text += part
      } else {
        position = mark
        break
      }
    }
    return .selector(text)
  }

  private mutating func name(
    after sign: String, meaning: String
  ) throws(PredicateSyntaxError) -> String {
    position += 1
    let name = identifier()
    if name.isEmpty {
      throw error(
        "\(sign) appears without a name", at: position - 1, expected: "\(meaning) after \(sign)")
    }
    return name
  }

  private mutating func number() -> PredicateToken.Kind {
    let start = position
    if byte() == UInt8(ascii: "0"), [UInt8(ascii: "x"), .b, .o].contains(byte(1) | 0x20) {
      position += 2
      while byte().isIdentifierPart { position += 1 }
    } else {
      while byte().isDigit { position += 1 }
      if byte() == .dot, byte(1).isDigit {
        position += 1
        while byte().isDigit { position += 1 }
      }
      if byte() | 0x20 == UInt8(ascii: "e") {
        let sign = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-") ? 1 : 0
        if byte(1 + sign).isDigit {
          position += 1 + sign
          while byte().isDigit { position += 1 }
        }
      }
      // `3abc` is one invalid number, not two tokens.
      while byte().isIdentifierPart { position += 1 }
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func symbol() throws(PredicateSyntaxError) -> PredicateToken.Symbol {
    if byte(1) != 0, let symbol = PredicateToken.Symbol(byte(), byte(1)) {
      position += 2
      return symbol
    }
    guard let symbol = PredicateToken.Symbol(byte()) else {
      let sign = String(decoding: bytes[position..<position + 1], as: UTF8.self)
      throw error("“\(sign)” has no meaning in a predicate", at: position)
    }
    position += 1
    return symbol
  }

  func error(
    _ message: String, at offset: Int, expected: String = ""
  ) -> PredicateSyntaxError {
    PredicateSyntaxError(
      format: format, column: Self.column(of: offset, in: format), message: message,
      expected: expected)
  }
}

extension UInt8 {
  fileprivate static let dot = UInt8(ascii: ".")
  fileprivate static let b = UInt8(ascii: "b")
  fileprivate static let o = UInt8(ascii: "o")

  var isDigit: Bool {
    self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9")
  }

  fileprivate var isSpace: Bool {
    self == 0x20 || (self >= 0x09 && self <= 0x0D)
  }

  /// Whether the byte can begin an identifier; every byte that isn't ASCII can.
  var isIdentifierHead: Bool {
    let lower = self | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
      || self >= 0x80
  }

  var isIdentifierPart: Bool {
    isIdentifierHead || isDigit
  }
}

extension PredicateLexer {
  /// Parses a string in single or double quotation marks.
  ///
  /// A placeholder in a string is text.
  mutating func string(quote: UInt8) throws(PredicateSyntaxError) -> String {
    let start = position
    position += 1
    var text: [UInt8] = []
    while position < bytes.count, bytes[position] != quote {
      if bytes[position] == UInt8(ascii: "\\") {
        try escape(into: &text)
      } else {
        text.append(bytes[position])
        position += 1
      }
    }
    guard position < bytes.count else {
      let sign = Character(Unicode.Scalar(quote))
      throw error("the string isn't terminated", at: start, expected: "a closing \(sign)")
    }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape(into text: inout [UInt8]) throws(PredicateSyntaxError) {
    let start = position
    position += 1
    guard position < bytes.count else {
      throw error("the string isn't terminated", at: start, expected: "a character after \\")
    }
    let letter = bytes[position]
    position += 1
    switch letter {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "u"): text += try codePoint(digits: 4, from: start, mayBePair: true)
    case UInt8(ascii: "x"): text += try codePoint(digits: 2, from: start)
    // Without their digits, these belong to a pattern of MATCHES: `\X`, and `\1` for a group.
    case UInt8(ascii: "U") where has(digits: 4, radix: 16):
      text += try codePoint(digits: 4, from: start, mayBePair: true)
    case UInt8(ascii: "X") where has(digits: 2, radix: 16):
      text += try codePoint(digits: 2, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "3") where has(digits: 2, radix: 8):
      position -= 1
      text += try codePoint(digits: 3, radix: 8, from: start)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): text.append(letter)
    default:
      // The backslash remains for patterns of LIKE and MATCHES, such as `\d` and `\*`.
      text += [UInt8(ascii: "\\"), letter]
    }
  }

  /// Returns whether a number of digits follow.
  private func has(digits: Int, radix: Int) -> Bool {
    let end = min(position + digits, bytes.count)
    return end - position == digits
      && bytes[position..<end].allSatisfy { byte in
        byte < 0x80 && Character(Unicode.Scalar(byte)).hexDigitValue.map { $0 < radix } ?? false
      }
  }

  /// Reads the digits of an escape.
  ///
  /// - Parameter mayBePair: Whether the digits are a UTF-16 code unit, so that a high surrogate and
  ///   the low one in the next escape are one character.
  private mutating func codePoint(
    digits: Int, radix: Int = 16, from start: Int, mayBePair: Bool = false
  ) throws(PredicateSyntaxError) -> [UInt8] {
    let end = min(position + digits, bytes.count)
    let text = String(decoding: bytes[position..<end], as: UTF8.self)
    guard has(digits: digits, radix: radix), var code = UInt32(text, radix: radix) else {
      throw error(
        "the escape isn't a character", at: start, expected: "\(digits) hexadecimal digits")
    }
    position = end
    if mayBePair, (0xD800...0xDBFF).contains(code), let low = lowSurrogate() {
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else {
      throw error(
        "the escape isn't a character", at: start,
        expected: "a high and a low surrogate, such as \\uD83D\\uDE00")
    }
    return Array(String(Character(scalar)).utf8)
  }

  /// Parses an escape that's a low surrogate; parses nothing and returns `nil` for anything else.
  private mutating func lowSurrogate() -> UInt32? {
    let start = position
    guard byte() == UInt8(ascii: "\\"), byte(1) | 0x20 == UInt8(ascii: "u") else { return nil }
    position += 2
    let end = min(position + 4, bytes.count)
    guard has(digits: 4, radix: 16),
      let code = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16),
      (0xDC00...0xDFFF).contains(code)
    else {
      position = start
      return nil
    }
    position = end
    return code
  }

  /// Parses a placeholder: `%@`, `%K`, or a number in the format of `printf`.
  mutating func placeholder() throws(PredicateSyntaxError) -> PredicateToken.Placeholder {
    let start = position
    position += 1
    let lengths: [UInt8] = Array("lhqzjtL".utf8)
    while position < bytes.count, lengths.contains(bytes[position]) { position += 1 }
    let letter = position < bytes.count ? bytes[position] : 0
    let kind: PredicateToken.Placeholder.Kind
    switch letter {
    case UInt8(ascii: "@"): kind = .object
    case UInt8(ascii: "K"): kind = .key
    case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "D"): kind = .integer
    case UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "o"),
      UInt8(ascii: "U"), UInt8(ascii: "O"):
      kind = .unsigned
    case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "e"), UInt8(ascii: "E"),
      UInt8(ascii: "g"), UInt8(ascii: "G"), UInt8(ascii: "a"), UInt8(ascii: "A"):
      kind = .floating
    case UInt8(ascii: "c"), UInt8(ascii: "C"): kind = .character
    default:
      throw error(
        "% starts no placeholder", at: start,
        expected: "%@ %K %d %i %u %ld %lu %lld %f %a %la or %c")
    }
    let plain = letter == UInt8(ascii: "@") || letter == UInt8(ascii: "K")
    guard !plain || position == start + 1 else {
      throw error("% starts no placeholder", at: start, expected: "%@ or %K without a length")
    }
    position += 1
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    return PredicateToken.Placeholder(text: text, kind: kind)
  }
}
