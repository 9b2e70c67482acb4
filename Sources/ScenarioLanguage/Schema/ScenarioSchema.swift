import ProfileEvents

/// The JSON Schema (draft 2020-12) of scenario files, generated from the tables that the reader
/// uses.
///
/// The schema covers what doesn't depend on a model: keys, verbs, options, metrics, and the syntax
/// of their values. The reader rejects everything that the schema rejects; only the reader checks
/// the names of entities and properties. A YAML language server uses the schema for completion and
/// validation.
package enum ScenarioSchema {
  /// The file name of the published schema.
  package static let fileName = "scenario.schema.json"

  /// The schema as a JSON document.
  package static var document: String { root.document }

  /// The root of the schema.
  static var root: SchemaNode {
    .pairs([
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("title", "cdprof scenario"),
      (
        "description",
        "Data, steps of Core Data work, and variants of the work with their expected counts."
      ),
      ("type", "object"),
      ("properties", .pairs(keys)),
      ("required", ["name", "steps"]),
      (
        "anyOf",
        [
          ["required": ["model"]],
          ["required": ["data"], "properties": ["data": ["required": ["store"]]]],
        ]
      ),
      ("not", ["required": ["variants", "expect"]]),
      ("additionalProperties", false),
      ("$defs", .pairs(definitions)),
    ])
  }

  /// The keys of the file, in the order of `ScenarioReader.keys`.
  private static var keys: [(String, SchemaNode)] {
    ScenarioReader.keys.compactMap { key in value(ofKey: key).map { (key, $0) } }
  }

  private static func value(ofKey key: String) -> SchemaNode? {
    switch key {
    case "name": described("text", "The title of the report.")
    case "chapter": described("number", "The chapter of the book (Core Data by Kugler and Eggert).")
    case "covers": covers
    case "source":
      described(
        "source", "The source of expectations that don't specify one; `derived` by default.")
    case "story": described("text", "The introduction in the report.")
    case "model": described("text", "The name of a model in Models/, or a path.")
    case "data": data
    case "steps": described("steps", "The work that all variants share.")
    case "variants": variants
    case "expect": described("expect", "The expectations of a scenario without variants.")
    case "silence": silence
    default: nil
    }
  }

  /// Returns a reference to a definition, with a description that editors show.
  static func described(_ definition: String, _ sentence: String) -> SchemaNode {
    SchemaNode.definition(definition).with([("description", .text(sentence))])
  }

  private static var covers: SchemaNode {
    let pattern = SchemaNode.text("^\(CatalogReference.pattern)$")
    let marked: SchemaNode = [
      "type": "object", "minProperties": 1, "maxProperties": 1,
      "patternProperties": .pairs([
        ("^\(CatalogReference.pattern)$", .definition("source"))
      ]),
      "additionalProperties": false,
    ]
    return [
      "description": "The IDs of the behaviors that the scenario covers.",
      "type": "array", "items": ["anyOf": [["type": "string", "pattern": pattern], marked]],
    ]
  }

  private static var silence: SchemaNode {
    [
      "description": "Findings to suppress: a rule, or a rule and its subject.",
      "type": "array",
      "items": ["type": "string", "pattern": .text("^\(rules)([(].+[)])?$")],
    ]
  }

  private static var variants: SchemaNode {
    [
      "description": "The ways to do the work; each lists only what differs.",
      "type": "array", "minItems": 1,
      "items": [
        "type": "object",
        "properties": .pairs(
          VariantReader.keys.compactMap { key in value(ofVariantKey: key).map { (key, $0) } }),
        "required": ["name"],
        "additionalProperties": false,
      ],
    ]
  }

  private static func value(ofVariantKey key: String) -> SchemaNode? {
    switch key {
    case "name": described("text", "The variant's name in the report.")
    case "why": described("text", "One sentence for the report that explains the counts.")
    case "source": described("source", "The source of the variant's expectations.")
    case "set": settings
    case "first": described("steps", "Steps before the shared ones.")
    case "then": described("steps", "Steps after the shared ones.")
    case "expect": described("expect", "The variant's expectations.")
    default: nil
    }
  }

  /// The finding rules as alternatives of a pattern.
  static var rules: String {
    "(\(RuleName.allCases.map(\.rawValue).joined(separator: "|")))"
  }

  private static var definitions: [(String, SchemaNode)] {
    valueDefinitions + expectationDefinitions + dataDefinitions + stepDefinitions
  }

  /// The definitions of plain values.
  private static var valueDefinitions: [(String, SchemaNode)] {
    [
      ("text", ["type": ["string", "number", "boolean"]]),
      ("word", ["type": ["string", "number", "boolean", "null"]]),
      (
        "name",
        [
          "type": "string", "pattern": "^[\\p{L}_][\\p{L}\\p{N}_-]*$",
          "not": ["enum": .texts(LineWords.keywords.sorted())],
        ]
      ),
      ("number", ["type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+$"]),
      ("seconds", ["type": ["number", "string"], "pattern": "^-?[0-9.]+$"]),
      ("flag", ["enum": .array([true, false] + flagWords.map(SchemaNode.text))]),
      ("source", ["enum": .texts(SourceMark.allCases.map(\.rawValue))]),
    ]
  }

  /// The Boolean literals in the spellings of YAML 1.1.
  private static var flagWords: [String] {
    (Flag.affirmative + Flag.negative).flatMap { word in
      [word, word.prefix(1).uppercased() + word.dropFirst(), word.uppercased()]
    }
  }
}

extension ScenarioSchema {
  /// The schema of `data`: rows to generate, or a store to copy.
  static var data: SchemaNode {
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
          "type": "object", "properties": ["seed": seed, "version": version],
          "additionalProperties": .definition("entity-data"),
        ],
      ],
    ]
  }

  /// The definitions of an entity's row count and generators.
  static var dataDefinitions: [(String, SchemaNode)] {
    let units = Generator.units.keys.sorted().joined(separator: "|")
    let generator =
      "^(cycle|random|every +[0-9]+ +(\(units))s?|text +[0-9]+|one +of +.+)$"
    return [
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

extension ScenarioSchema {
  /// The pattern of an operand: a number or a name, with optional signs, parentheses, and `ceil(`.
  private static let operand = "([( -]|ceil *[(])*[\\p{L}\\p{N}_]+[) ]*"
  /// The pattern of an expression.
  ///
  /// It doesn't check that parentheses match; the reader does.
  private static let expression = "\(operand)([+*/-]\(operand))*"

  /// The definitions of `expect`, formulas, and plan requirements.
  static var expectationDefinitions: [(String, SchemaNode)] {
    let formula = "((at most |at least )?\(expression)|\(expression)[.][.]\(expression))"
    return [
      (
        "expression",
        ["type": ["integer", "string"], "minimum": 0, "pattern": .text("^\(expression)$")]
      ),
      (
        "formula", ["type": ["integer", "string"], "minimum": 0, "pattern": .text("^\(formula)$")]
      ),
      ("expectation", marked(.definition("formula"))),
      (
        "demands",
        [
          "type": ["string", "array"], "pattern": .text(demand), "minItems": 1,
          "items": ["type": "string", "pattern": .text(demand)],
        ]
      ),
      ("plans", marked(.definition("demands"))),
      ("expect", expect),
    ]
  }

  /// Returns the schema of a value, or of a map with the value and its source.
  private static func marked(_ value: SchemaNode) -> SchemaNode {
    [
      "anyOf": [
        value,
        [
          "type": "object",
          "properties": [
            "expected": value, "source": .definition("source"),
            "law": ["anyOf": [value], "deprecated": true],
          ],
          "anyOf": [["required": ["expected"]], ["required": ["law"]]],
          "additionalProperties": false,
        ],
      ]
    ]
  }

  private static var demand: String {
    let forms = PlanRequirement.forms.map { form in
      form.replacing("NAME", with: "\\S+").replacing(" ", with: " +")
    }
    return "^ *(\(forms.joined(separator: "|"))) *$"
  }

  private static var expect: SchemaNode {
    let metrics = Metric.allCases.filter(\.isExact)
    let plan = PlanExpectation.word
    let findings: SchemaNode = [
      "description": "The findings that must fire, and no others. If omitted, none may fire.",
      "type": "array",
      "items": ["type": "string", "pattern": .text("^\(rules)[(].+[)]$")],
    ]
    let plans = described("plans", "The requirements for the query plans of SELECTs.")
    return [
      "type": "object",
      "properties": .pairs(
        metrics.map { ($0.rawValue, described("expectation", $0.meaning)) }
          + [
            (plan, plans), ("findings", findings),
            ("source", described("source", "The source of these expectations.")),
          ]),
      "patternProperties": .pairs(
        metrics.filter { !$0.scopes.isEmpty }.map {
          ("^\($0.rawValue)[(].+[)]$", described("expectation", $0.meaning))
        } + [("^\(plan)[(].+[)]$", plans)]),
      "additionalProperties": false,
    ]
  }
}
