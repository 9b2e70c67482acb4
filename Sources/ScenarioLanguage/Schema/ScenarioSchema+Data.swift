extension ScenarioSchema {
  /// `data`: rows that are made, or a store that is copied.
  static var data: SchemaNode {
    let seed = described("number", "The same seed gives the same values.")
    let store = described("text", "A store to copy, by its path from this file.")
    return [
      "description": "What is in the store before each variant.",
      "anyOf": [
        [
          "type": "object", "properties": ["seed": seed, "store": store],
          "required": ["store"], "additionalProperties": false,
        ],
        [
          "type": "object", "properties": ["seed": seed],
          "additionalProperties": .definition("entity-data"),
        ],
      ],
    ]
  }

  /// The rows of an entity and how their values are made.
  static var dataDefinitions: [(String, SchemaNode)] {
    let units = Generator.units.keys.sorted().joined(separator: "|")
    let generator =
      "^(cycle|random|every +[0-9]+ +(\(units))s?|text +[0-9]+|one +of +.+)$"
    return [
      (
        "entity-data",
        [
          "description": "How many objects, and how their properties are made.",
          "type": "object",
          "properties": [
            "count": described("expression", "A number, or an expression such as 5000 * scale.")
          ],
          "required": ["count"], "additionalProperties": .definition("generator"),
        ]
      ),
      (
        "generator",
        [
          "description": .text(Generator.usage),
          "anyOf": [
            ["type": "string", "pattern": .text(generator)],
            [
              "type": "object",
              "properties": [
                "one of": [
                  "type": ["array", "string", "number", "boolean"], "minItems": 1,
                  "items": .definition("word"),
                ]
              ],
              "required": ["one of"], "additionalProperties": false,
            ],
          ],
        ]
      ),
    ]
  }
}
