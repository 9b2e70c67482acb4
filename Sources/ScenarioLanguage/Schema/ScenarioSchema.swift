import ProfileEvents

/// The JSON Schema of a scenario file, draft 2020-12, made of the same tables that read one.
///
/// It knows what can be known without a model: keys, verbs, options, metrics, the forms of their values.
/// What it refuses the reader refuses too; names of entities and properties are the reader's alone.
/// An editor's YAML server completes and checks with it.
package enum ScenarioSchema {
  /// The name of the published file.
  package static let fileName = "scenario.schema.json"

  /// The schema as a JSON document.
  package static var document: String { root.document }

  /// The schema.
  static var root: SchemaNode {
    .pairs([
      ("$schema", "https://json-schema.org/draft/2020-12/schema"),
      ("title", "A scenario of cdprof"),
      (
        "description",
        "Data, the steps of some work on Core Data, and variants of it with what each must cost."
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
    case "chapter": described("number", "The chapter of the book.")
    case "covers": covers
    case "source":
      described(
        "source", "The source of expectations that don't specify one; `derived` by default.")
    case "story": described("text", "An introduction to the table.")
    case "model": described("text", "A name under Models/, or a path.")
    case "data": data
    case "steps": described("steps", "The work that all variants share.")
    case "variants": variants
    case "expect": described("expect", "What the steps must cost, without variants.")
    case "silence": silence
    default: nil
    }
  }

  /// A definition with a sentence for the editor.
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
      "description": "IDs of the behaviors that the scenario covers.",
      "type": "array", "items": ["anyOf": [["type": "string", "pattern": pattern], marked]],
    ]
  }

  private static var silence: SchemaNode {
    [
      "description": "Findings that are known and meant: a rule, or a rule and its subject.",
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
    case "name": described("text", "Its name in the table.")
    case "why": described("text", "One sentence for the report.")
    case "source": described("source", "The mark of its expectations.")
    case "set": settings
    case "first": described("steps", "Steps before the shared ones.")
    case "then": described("steps", "Steps after the shared ones.")
    case "expect": described("expect", "What it must cost.")
    default: nil
    }
  }

  /// The rules of findings as alternatives of a pattern.
  static var rules: String {
    "(\(RuleName.allCases.map(\.rawValue).joined(separator: "|")))"
  }

  private static var definitions: [(String, SchemaNode)] {
    valueDefinitions + expectationDefinitions + dataDefinitions + stepDefinitions
  }

  /// Plain values.
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

  /// Yes and no, as YAML 1.1 spells them.
  private static var flagWords: [String] {
    (Flag.affirmative + Flag.negative).flatMap { word in
      [word, word.prefix(1).uppercased() + word.dropFirst(), word.uppercased()]
    }
  }
}

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

extension ScenarioSchema {
  /// A number, a name or `ceil(` of one, brackets and signs around it.
  private static let operand = "([( -]|ceil *[(])*[\\p{L}\\p{N}_]+[) ]*"
  /// Operands and what is between them; whether brackets match is the reader's to see.
  private static let expression = "\(operand)([+*/-]\(operand))*"

  /// `expect`, formulas, plan requirements.
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

  /// A value alone, or with a source mark of its own.
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
      "description": "Exactly the findings that fire; left out, none may.", "type": "array",
      "items": ["type": "string", "pattern": .text("^\(rules)[(].+[)]$")],
    ]
    let plans = described("plans", "What the plans of SELECTs must be.")
    return [
      "type": "object",
      "properties": .pairs(
        metrics.map { ($0.rawValue, described("expectation", $0.meaning)) }
          + [
            (plan, plans), ("findings", findings),
            ("source", described("source", "The mark of these expectations.")),
          ]),
      "patternProperties": .pairs(
        metrics.filter { !$0.scopes.isEmpty }.map {
          ("^\($0.rawValue)[(].+[)]$", described("expectation", $0.meaning))
        } + [("^\(plan)[(].+[)]$", plans)]),
      "additionalProperties": false,
    ]
  }
}
