import ManagedModel
import ModelCode

/// The lines of a Swift file, indented by two spaces for each level.
struct SwiftLines {
  private(set) var lines: [String] = []
  private var depth = 0

  init(depth: Int = 0) {
    self.depth = depth
  }

  /// Adds a line.
  mutating func line(_ text: String) {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
  }

  /// Adds a comment on one line.
  ///
  /// Newlines are replaced, because the text after one would be code.
  mutating func comment(_ text: String, marks: String = "//") {
    line("\(marks) \(SwiftLines.oneLine(text))")
  }

  /// Returns text with newlines replaced by spaces, and without characters that could hide code.
  static func oneLine(_ text: String) -> String {
    PrintableText.line(text.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// Adds lines.
  mutating func add(_ texts: [String]) {
    for text in texts { line(text) }
  }

  /// Adds an empty line, unless the block has no lines yet.
  mutating func gap() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
    lines.append("")
  }

  /// Adds a block in braces.
  mutating func block(_ head: String, _ body: (inout SwiftLines) -> Void) {
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }
}

/// Swift literals for values.
enum SwiftLiteral {
  /// Returns an array literal of strings.
  static func texts(_ texts: [String]) -> String {
    "[\(texts.map(SwiftNames.literal).joined(separator: ", "))]"
  }

  /// Returns an expression for an attribute's value in the attribute's Swift type, or `nil` for no
  /// value.
  static func value(_ value: Any?, of type: NSAttributeType) -> String {
    switch (type, value) {
    case (.integer16AttributeType, let number?): "Int16(\(number))"
    case (.integer32AttributeType, let number?): "Int32(\(number))"
    case (.integer64AttributeType, let number?): "Int64(\(number))"
    case (.doubleAttributeType, let number?): floatingPoint("\(number)", "Double")
    case (.floatAttributeType, let number?): floatingPoint("\(number)", "Float")
    case (.decimalAttributeType, let number?):
      "NSDecimalNumber(string: \(SwiftNames.literal("\(number)")))"
    case (.booleanAttributeType, let number as NSNumber): String(number.boolValue)
    case (.booleanAttributeType, let flag as Bool): String(flag)
    case (_, let word as String): SwiftNames.literal(word)
    case (_, let date as Date):
      "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
    case (_, let data as Data): "Data([\(data.map(String.init).joined(separator: ", "))])"
    case (_, let uuid as UUID): "UUID(uuidString: \(SwiftNames.literal(uuid.uuidString)))"
    case (_, let url as URL): "URL(string: \(SwiftNames.literal(url.absoluteString)))"
    default: "nil"
    }
  }

  /// Returns an expression for a floating-point number, which isn't a literal if it isn't finite.
  private static func floatingPoint(_ number: String, _ type: String) -> String {
    switch number {
    case "inf": "\(type).infinity"
    case "-inf": "-\(type).infinity"
    case "nan", "-nan": "\(type).nan"
    default: "\(type)(\(number))"
    }
  }
}

/// Generates unique, valid Swift identifiers.
struct SwiftIdentifiers {
  private var taken: Set<String>

  /// Creates a generator.
  ///
  /// - Parameter reserved: Names that are in use.
  init(reserved: Set<String> = []) {
    taken = reserved.union(SwiftNames.keywords)
  }

  /// Returns an unused identifier for some words: `my-moods` becomes `myMoods`, or `myMoods2` if
  /// that's used.
  ///
  /// - Parameters:
  ///   - words: The words.
  ///   - endings: The endings with which the identifier must be unused, too.
  mutating func name(_ words: String..., endings: [String] = []) -> String {
    let whole = SwiftIdentifiers.joined(words)
    var names = [whole] + endings.map { whole + $0 }
    var number = 2
    while !taken.isDisjoint(with: names) {
      let name = "\(whole)\(number)"
      names = [name] + endings.map { name + $0 }
      number += 1
    }
    taken.formUnion(names)
    return names[0]
  }

  /// Returns a type name for a word, in upper camel case without the characters that identifiers
  /// can't have.
  static func type(_ word: String) -> String {
    let name = joined([word])
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  /// Returns words in lower camel case.
  ///
  /// Characters that identifiers can't have separate words.
  private static func joined(_ words: [String]) -> String {
    let parts = words.flatMap { word in
      word.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    }
    let first = parts.first.map { $0.prefix(1).lowercased() + $0.dropFirst() } ?? "value"
    let name = parts.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    return name.first?.isNumber == true ? "n" + name : name
  }
}
