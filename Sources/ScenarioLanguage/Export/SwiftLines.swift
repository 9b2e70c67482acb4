import ModelCode
import OpenCoreData

/// Lines of a Swift file, two spaces a level.
struct SwiftLines {
  private(set) var lines: [String] = []
  private var depth = 0

  init(depth: Int = 0) {
    self.depth = depth
  }

  /// A line as it is.
  mutating func line(_ text: String) {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
  }

  /// A comment, on one line whatever the text holds: behind a line end its rest would be code.
  mutating func comment(_ text: String, marks: String = "//") {
    line("\(marks) \(SwiftLines.oneLine(text))")
  }

  /// A text whose line ends are blanks, without characters that would hide code from a reader.
  static func oneLine(_ text: String) -> String {
    PrintableText.line(text.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// Lines as they are.
  mutating func add(_ texts: [String]) {
    for text in texts { line(text) }
  }

  /// An empty line, but for the first of a block.
  mutating func gap() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
    lines.append("")
  }

  /// Lines between braces.
  mutating func block(_ head: String, _ body: (inout SwiftLines) -> Void) {
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }
}

/// Values as Swift writes them.
enum SwiftLiteral {
  /// A list of texts.
  static func texts(_ texts: [String]) -> String {
    "[\(texts.map(SwiftNames.literal).joined(separator: ", "))]"
  }

  /// An attribute's value, in the Swift type of the attribute; `nil` for none.
  static func value(_ value: Any?, of type: NSAttributeType) -> String {
    switch (type, value) {
    case (.integer16AttributeType, let number?): "Int16(\(number))"
    case (.integer32AttributeType, let number?): "Int32(\(number))"
    case (.integer64AttributeType, let number?): "Int64(\(number))"
    case (.doubleAttributeType, let number?): "Double(\(number))"
    case (.floatAttributeType, let number?): "Float(\(number))"
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
}

/// Hands out names that Swift takes, each once.
struct SwiftIdentifiers {
  private var taken: Set<String>

  /// - Parameter reserved: names that mean something already.
  init(reserved: Set<String> = []) {
    taken = reserved.union(SwiftNames.keywords)
  }

  /// A free name like some words: `my-moods` becomes `myMoods`, the second time `myMoods2`.
  mutating func name(_ words: String...) -> String {
    let whole = SwiftIdentifiers.joined(words)
    var name = whole
    var number = 2
    while !taken.insert(name).inserted {
      name = "\(whole)\(number)"
      number += 1
    }
    return name
  }

  /// The name of a type like a word: `fault-storm` becomes `FaultStormRule`.
  static func type(_ word: String) -> String {
    let name = joined([word])
    return name.prefix(1).uppercased() + name.dropFirst()
  }

  /// Words as one in camel case; what no identifier may have parts words.
  private static func joined(_ words: [String]) -> String {
    let parts = words.flatMap { word in
      word.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    }
    let first = parts.first.map { $0.prefix(1).lowercased() + $0.dropFirst() } ?? "value"
    let name = parts.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    return name.first?.isNumber == true ? "n" + name : name
  }
}
