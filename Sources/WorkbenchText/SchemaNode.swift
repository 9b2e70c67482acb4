/// A JSON value whose objects keep the order of their keys.
package indirect enum SchemaNode: Sendable, Equatable {
  /// A key of an object and its value.
  package struct Member: Sendable, Equatable {
    package var key: String
    package var value: SchemaNode
  }

  case object([Member])
  case array([SchemaNode])
  case text(String)
  case number(Int)
  case flag(Bool)

  /// Returns a reference to a definition in the same document.
  package static func definition(_ name: String) -> SchemaNode {
    ["$ref": .text("#/$defs/\(name)")]
  }

  /// Returns an array of strings.
  package static func texts(_ texts: [String]) -> SchemaNode {
    .array(texts.map(SchemaNode.text))
  }

  /// Returns an object whose members keep the order of the pairs.
  package static func pairs(_ pairs: [(String, SchemaNode)]) -> SchemaNode {
    .object(pairs.map { Member(key: $0.0, value: $0.1) })
  }

  /// The keys of an object and their values, in order; empty for other values.
  package var members: [(String, SchemaNode)] {
    guard case .object(let members) = self else { return [] }
    return members.map { ($0.key, $0.value) }
  }

  /// Returns an object with members appended.
  ///
  /// Returns other values unchanged.
  package func with(_ pairs: [(String, SchemaNode)]) -> SchemaNode {
    guard case .object(let members) = self else { return self }
    return .object(members + pairs.map { Member(key: $0.0, value: $0.1) })
  }

  /// The JSON text, indented by two spaces for each level, with short values on one line and a
  /// newline at the end.
  package var document: String { lines(indent: "") + "\n" }

  /// The maximum width of a value on one line, including its indentation.
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
  /// Creates an object whose keys keep their order.
  package init(dictionaryLiteral elements: (String, SchemaNode)...) {
    self = .pairs(elements)
  }

  /// Creates an array.
  package init(arrayLiteral elements: SchemaNode...) {
    self = .array(elements)
  }

  /// Creates a string.
  package init(stringLiteral value: String) {
    self = .text(value)
  }

  /// Creates an integer.
  package init(integerLiteral value: Int) {
    self = .number(value)
  }

  /// Creates a Boolean value.
  package init(booleanLiteral value: Bool) {
    self = .flag(value)
  }
}
