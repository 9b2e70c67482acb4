import WorkbenchText

/// A value of a JSON document that keeps the order of its keys.
package indirect enum SchemaNode: Sendable, Equatable {
  /// A key of an object with its value.
  package struct Member: Sendable, Equatable {
    package var key: String
    package var value: SchemaNode
  }

  case object([Member])
  case array([SchemaNode])
  case text(String)
  case number(Int)
  case flag(Bool)

  /// A definition of the same document by its name.
  static func definition(_ name: String) -> SchemaNode {
    ["$ref": .text("#/$defs/\(name)")]
  }

  /// A list of texts.
  static func texts(_ texts: [String]) -> SchemaNode {
    .array(texts.map(SchemaNode.text))
  }

  /// An object of pairs, in their order.
  static func pairs(_ pairs: [(String, SchemaNode)]) -> SchemaNode {
    .object(pairs.map { Member(key: $0.0, value: $0.1) })
  }

  /// The object with more keys behind its own; other values stay as they are.
  func with(_ pairs: [(String, SchemaNode)]) -> SchemaNode {
    guard case .object(let members) = self else { return self }
    return .object(members + pairs.map { Member(key: $0.0, value: $0.1) })
  }

  /// The document: two spaces a level, short lists on one line, an end of line at the end.
  package var document: String { lines(indent: "") + "\n" }

  /// Longer values than this stand on several lines.
  private static let width = 88

  private func lines(indent: String) -> String {
    let short = line
    if short.count + indent.count <= Self.width { return short }
    let inner = indent + "  "
    switch self {
    case .object(let members):
      let parts = members.map {
        "\(inner)\(JSONText.quoted($0.key)): \($0.value.lines(indent: inner))"
      }
      return "{\n\(parts.joined(separator: ",\n"))\n\(indent)}"
    case .array(let values):
      let parts = values.map { inner + $0.lines(indent: inner) }
      return "[\n\(parts.joined(separator: ",\n"))\n\(indent)]"
    default: return short
    }
  }

  private var line: String {
    switch self {
    case .object(let members):
      "{\(members.map { "\(JSONText.quoted($0.key)): \($0.value.line)" }.joined(separator: ", "))}"
    case .array(let values): "[\(values.map(\.line).joined(separator: ", "))]"
    case .text(let text): JSONText.quoted(text)
    case .number(let number): String(number)
    case .flag(let flag): String(flag)
    }
  }
}

extension SchemaNode: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
  /// An object, its keys in the order of writing.
  package init(dictionaryLiteral elements: (String, SchemaNode)...) {
    self = .pairs(elements)
  }

  /// A list.
  package init(arrayLiteral elements: SchemaNode...) {
    self = .array(elements)
  }

  /// A text.
  package init(stringLiteral value: String) {
    self = .text(value)
  }

  /// An integer.
  package init(integerLiteral value: Int) {
    self = .number(value)
  }

  /// True or false.
  package init(booleanLiteral value: Bool) {
    self = .flag(value)
  }
}
