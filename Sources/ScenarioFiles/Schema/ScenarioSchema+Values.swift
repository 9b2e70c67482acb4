import ScenarioLanguage
import WorkbenchText

extension ScenarioSchema {
  /// The definitions of plain values.
  static var valueDefinitions: [(String, SchemaNode)] {
    let seconds = SchemaNode.number(Int(InputLimits.seconds))
    return [
      ("text", ["type": ["string", "number", "boolean"]]),
      ("word", ["type": ["string", "number", "boolean", "null"]]),
      (
        "name",
        [
          "type": ["string", "boolean"],
          "pattern": "^(\\p{L}\\p{M}*|_)((\\p{L}|\\p{N})\\p{M}*|[_-])*$",
          "not": ["enum": .texts(LineWords.keywords.sorted())],
        ]
      ),
      ("number", ["type": ["integer", "string"], "minimum": 0, "pattern": "^[+]?[0-9]+$"]),
      ("code", ["type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+$"]),
      (
        "seconds",
        [
          "type": ["number", "string"], "minimum": .number(-Int(InputLimits.seconds)),
          "maximum": seconds, "pattern": .text(decimal),
        ]
      ),
      (
        "flag",
        [
          "anyOf": [
            ["enum": .array([true, false] + flagWords.map(SchemaNode.text))],
            ["type": "string", "pattern": .text(anyCase)],
          ]
        ]
      ),
      ("source", ["enum": .texts(SourceMark.allCases.map(\.rawValue))]),
    ]
  }

  /// Returns the schema of a value that can also be the only element of a list.
  static func single(_ value: SchemaNode) -> SchemaNode {
    ["anyOf": [value, ["type": "array", "minItems": 1, "maxItems": 1, "items": value]]]
  }

  /// The pattern of a decimal or hexadecimal number with an optional fraction or exponent.
  private static let decimal =
    "^[+-]?(([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"
    + "|0[xX][0-9a-fA-F]+([.][0-9a-fA-F]*)?([pP][+-]?[0-9]+)?)$"

  /// The Boolean literals in the spellings of YAML 1.1.
  private static var flagWords: [String] {
    (Flag.affirmative + Flag.negative).flatMap { word in
      [word, word.prefix(1).uppercased() + word.dropFirst(), word.uppercased()]
    }
  }

  /// The pattern of the Boolean literals, ignoring case.
  private static var anyCase: String {
    let words = (Flag.affirmative + Flag.negative).map { word in
      word.map { "[\($0)\($0.uppercased())]" }.joined()
    }
    return "^(\(words.joined(separator: "|")))$"
  }
}
