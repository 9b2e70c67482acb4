import ScenarioLanguage
import WorkbenchText

extension ScenarioSchema {
  /// The schema of `data`: rows to generate, or a store to copy.
  static var data: SchemaNode {
    let include = described("text", "A YAML file with data to start with, relative to this file.")
      .with([("pattern", "[.][yY][aA]?[mM][lL]$")])
    let seed = described("number", "The same seed gives the same values.")
    let store = described("text", "The store to copy: a path relative to this file.")
    let version = described("text", "The version of the model that the data has.")
    return [
      "description": "The data in the store before each variant runs.",
      "anyOf": [
        [
          "type": "object", "properties": ["seed": seed, "store": store, "version": version],
          "required": ["store"], "additionalProperties": false,
        ],
        [
          "type": "object",
          "properties": ["include": include, "seed": seed, "version": version],
          "additionalProperties": .definition("entity-data"),
        ],
      ],
    ]
  }

  /// The definitions of an entity's row count and generators.
  static var dataDefinitions: [(String, SchemaNode)] {
    [
      (
        "entity-data",
        [
          "description": "The number of objects, and the generators of their properties.",
          "type": "object",
          "properties": [
            "count": described("expression", "An integer, or an expression such as 5000 * scale.")
          ],
          "required": ["count"], "additionalProperties": .definition("generator"),
        ]
      ),
      (
        "generator",
        [
          "description": .text(Generator.usage),
          "anyOf": [["type": "string", "pattern": .text(generator)], generatorMap],
        ]
      ),
      (
        "positive",
        ["type": ["integer", "string"], "minimum": 1, "pattern": .text("^\(positive)$")]
      ),
    ]
  }

  /// The pattern of an integer greater than 0.
  private static let positive = "[+]?0*[1-9][0-9]*"
  /// The pattern of a unit of `every`.
  private static var unit: String {
    "(\(Generator.units.keys.sorted().joined(separator: "|")))s?"
  }

  /// The pattern of a generator in one line, whose words can be quoted or separated by commas.
  private static var generator: String {
    let mark = "[\\s,'\"\\[\\]]"
    let forms = [
      "cycle(\(mark)+\(positive))?", "random", "every\(mark)+\(positive)\(mark)+\(unit)",
      "(text|bytes)\(mark)+\(positive)", "one\(mark)+of\(mark)+.+",
    ]
    return "^\(mark)*(\(forms.joined(separator: "|")))\(mark)*$"
  }

  /// The schema of a generator as a map, whose words are those of its key and of its value.
  private static var generatorMap: SchemaNode {
    let nothing: SchemaNode = ["type": ["null", "array"], "maxItems": 0]
    let number = single(.definition("positive"))
    let word: SchemaNode = ["type": ["string", "number", "boolean", "null"], "minLength": 1]
    let values: SchemaNode = [
      "type": ["array", "string", "number", "boolean"], "minItems": 1, "minLength": 1,
      "items": word,
    ]
    return [
      "type": "object",
      "properties": [
        "cycle": ["anyOf": [nothing, number]], "random": nothing,
        "every": [
          "type": "array", "minItems": 2, "maxItems": 2,
          "items": [
            "type": ["integer", "string"], "minimum": 1,
            "pattern": .text("^(\(positive)|\(unit))$"),
          ],
        ],
        "text": number, "bytes": number, "one of": values,
      ],
      "patternProperties": .pairs([
        ("^every +\(positive)$", single(["type": "string", "pattern": .text("^\(unit)$")])),
        ("^one +of +\\S", ["anyOf": [nothing, values]]),
      ]),
      "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
    ]
  }
}
