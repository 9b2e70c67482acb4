/// A regular expression of `MATCHES`, in the part of its language that has the same meaning in
/// PostgreSQL.
///
/// Both match code points, and the whole string is matched, so it doesn't matter which alternative
/// is tried first. Classes such as `\d`, anchors, options, lookaround, and references differ, or
/// can't be compared in general.
struct RegularExpression {
  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var result = ""

  private static let mostRepetitions = 255
  private static let deepestGroup = 50
  /// Every character but the ends of lines, which ICU's `.` doesn't match.
  private static let anyCharacter = "[^\\n\\u000B\\f\\r\\u0085\\u2028\\u2029]"

  /// The letters that stand for control characters after a `\` in both languages.
  private static let controls: [Unicode.Scalar] = ["n", "r", "t", "f"]

  init(_ pattern: String) {
    scalars = Array(pattern.unicodeScalars)
  }

  /// Returns the expression for the operator `~`; nil if it has a part that differs or is invalid.
  mutating func sql() -> String? {
    (position, result) = (0, "")
    guard !scalars.isEmpty, alternatives(depth: 0), position == scalars.count else { return nil }
    // Begins with the mark of an advanced expression without other options.
    return "***:^(?:\(result))$"
  }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func alternatives(depth: Int) -> Bool {
    guard depth <= Self.deepestGroup else { return false }
    while let scalar = next, scalar != ")" {
      if scalar == "|" {
        result += "|"
        position += 1
      } else if !quantifiedAtom(depth: depth) {
        return false
      }
    }
    return true
  }

  private mutating func quantifiedAtom(depth: Int) -> Bool {
    guard atom(depth: depth) else { return false }
    switch next {
    case "*", "+", "?":
      result.unicodeScalars.append(scalars[position])
      position += 1
    case "{": guard bounds() else { return false }
    default: return true
    }
    // A second sign would change how the repetition matches, or repeat it.
    if let scalar = next, "*+?{".unicodeScalars.contains(scalar) { return false }
    return true
  }

  private mutating func atom(depth: Int) -> Bool {
    guard let scalar = next else { return false }
    position += 1
    switch scalar {
    case "(":
      if next == "?" {
        guard position + 1 < scalars.count, scalars[position + 1] == ":" else { return false }
        position += 2
      }
      result += "(?:"
      guard alternatives(depth: depth + 1), next == ")" else { return false }
      position += 1
      result += ")"
      return true
    case "[": return set()
    case ".":
      result += Self.anyCharacter
      return true
    case "\\":
      guard let escaped = next else { return false }
      position += 1
      if Self.controls.contains(escaped) {
        result += "\\" + String(Character(escaped))
        return true
      }
      guard Self.isSign(escaped) else { return false }
      append(literal: escaped)
      return true
    case "^", "$", "*", "+", "?", "{", "}", ")", "]": return false
    default:
      append(literal: scalar)
      return true
    }
  }

  private mutating func append(literal scalar: Unicode.Scalar) {
    if Self.isSign(scalar) { result += "\\" }
    result.unicodeScalars.append(scalar)
  }

  /// Whether a character is an ASCII sign, which `\` escapes in both languages.
  private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
    (0x21...0x7E).contains(scalar.value) && !scalar.properties.isAlphabetic
      && scalar.properties.numericType == nil && scalar != "_"
  }

  private mutating func bounds() -> Bool {
    guard let end = scalars[position...].firstIndex(of: "}") else { return false }
    let text = String(String.UnicodeScalarView(scalars[(position + 1)..<end]))
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let digits = parts.allSatisfy { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    let numbers = parts.map { Int($0) }
    guard digits, (1...2).contains(parts.count), let low = numbers[0],
      low <= Self.mostRepetitions
    else { return false }
    if parts.count == 2, !parts[1].isEmpty {
      guard let high = numbers[1], high >= low, high <= Self.mostRepetitions else { return false }
    }
    result += "{\(text)}"
    position = end + 1
    return true
  }

  /// Reads a set of characters and ranges.
  private mutating func set() -> Bool {
    var text = "["
    if next == "^" {
      text += "^"
      position += 1
    }
    var count = 0
    while let scalar = next, scalar != "]" {
      guard let low = member() else { return false }
      text += low.text
      count += 1
      guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
        continue
      }
      position += 1
      guard let high = member(), high.value >= low.value else { return false }
      text += "-" + high.text
    }
    guard next == "]", count > 0 else { return false }
    position += 1
    result += text + "]"
    return true
  }

  private mutating func member() -> (text: String, value: UInt32)? {
    guard var scalar = next else { return nil }
    position += 1
    if scalar == "\\" {
      guard let escaped = next, Self.isSign(escaped) else { return nil }
      position += 1
      scalar = escaped
    } else if "[]^&-{}$".unicodeScalars.contains(scalar) {
      // Signs of ICU's sets.
      return nil
    }
    let isPlain = !Self.isSign(scalar)
    return ((isPlain ? "" : "\\") + String(Character(scalar)), scalar.value)
  }
}
