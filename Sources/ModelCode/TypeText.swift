/// Checks whether a string in a model is a Swift type, such as `Color` or `[String: Any]`.
struct TypeText {
  private var rest: Substring

  /// Returns the type without surrounding spaces and `*` and without a trailing `?`, or `nil` if
  /// it's not a type.
  static func type(_ text: String) -> String? {
    var word = Substring(text)
    while let first = word.first, first == " " || first == "*" { word.removeFirst() }
    while let last = word.last, last == " " || last == "*" || last == "?" { word.removeLast() }
    var reader = TypeText(rest: word)
    return reader.readType() && reader.rest.isEmpty ? String(word) : nil
  }

  private mutating func readType() -> Bool {
    guard readPlainType() else { return false }
    while take("?") {}
    return true
  }

  private mutating func readPlainType() -> Bool {
    if take("[") {
      guard readType() else { return false }
      if take(":") {
        guard readType() else { return false }
      }
      return take("]")
    }
    repeat {
      let name = rest.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
      guard !name.isEmpty, SwiftNames.isIdentifier(String(name)) else { return false }
      rest = rest.dropFirst(name.count)
    } while take(".")
    guard take("<") else { return true }
    repeat {
      guard readType() else { return false }
    } while take(",")
    return take(">")
  }

  private mutating func take(_ character: Character) -> Bool {
    let after = rest.drop { $0 == " " }
    guard after.first == character else { return false }
    rest = after.dropFirst().drop { $0 == " " }
    return true
  }
}
