extension PredicateLexer {
  /// A string in single or double quotes.
  ///
  /// A placeholder inside is text.
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
      throw error("the string does not end", at: start, expected: "a closing \(sign)")
    }
    position += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape(into text: inout [UInt8]) throws(PredicateSyntaxError) {
    let start = position
    position += 1
    guard position < bytes.count else {
      throw error("the string does not end", at: start, expected: "a character after \\")
    }
    let letter = bytes[position]
    position += 1
    switch letter {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "u"): text += try codePoint(digits: 4, from: start)
    case UInt8(ascii: "x"): text += try codePoint(digits: 2, from: start)
    // Without their digits these belong to a pattern of MATCHES: `\X`, and `\1` for a group.
    case UInt8(ascii: "U") where has(digits: 4, radix: 16):
      text += try codePoint(digits: 4, from: start)
    case UInt8(ascii: "X") where has(digits: 2, radix: 16):
      text += try codePoint(digits: 2, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "3") where has(digits: 2, radix: 8):
      position -= 1
      text += try codePoint(digits: 3, radix: 8, from: start)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): text.append(letter)
    default:
      // Kept for the patterns of LIKE and MATCHES: '\d' and '\*' reach them whole.
      text += [UInt8(ascii: "\\"), letter]
    }
  }

  /// Whether so many digits follow.
  private func has(digits: Int, radix: Int) -> Bool {
    let end = min(position + digits, bytes.count)
    return end - position == digits
      && bytes[position..<end].allSatisfy { byte in
        byte < 0x80 && Character(Unicode.Scalar(byte)).hexDigitValue.map { $0 < radix } ?? false
      }
  }

  private mutating func codePoint(
    digits: Int, radix: Int = 16, from start: Int
  ) throws(PredicateSyntaxError) -> [UInt8] {
    let end = min(position + digits, bytes.count)
    let text = String(decoding: bytes[position..<end], as: UTF8.self)
    guard end - position == digits, let code = UInt32(text, radix: radix),
      let scalar = Unicode.Scalar(code)
    else {
      throw error(
        "the escape is no character", at: start, expected: "\(digits) hexadecimal digits")
    }
    position = end
    return Array(String(Character(scalar)).utf8)
  }

  /// `%@`, `%K` or a number, as `printf` writes them.
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
