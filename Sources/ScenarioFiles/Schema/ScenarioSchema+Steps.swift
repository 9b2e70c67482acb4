import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension ScenarioSchema {
  /// The definitions of steps, one for each verb, and of option values.
  static var stepDefinitions: [(String, SchemaNode)] {
    let verbs = Verb.allCases
    func names(_ verbs: [Verb]) -> String { verbs.map(\.rawValue).joined(separator: "|") }
    let alone = names(verbs.filter { $0.subject == .none })
    let others = names(verbs.filter { $0.subject != .none })
    let line: SchemaNode = [
      "description": "A step as a shell line.", "type": "string",
      "pattern": .text("^\\s*((\(alone))(\\s|$)|(\(others))\\s+\\S)"),
    ]
    let kinds = verbs.map { SchemaNode.definition(definition(of: $0)) }
    return [
      ("steps", ["type": "array", "items": .definition("step")]),
      ("step", ["anyOf": .array(kinds + [.definition("repeat-block"), line])]),
      ("repeat-block", repeatBlock),
    ] + optionDefinitions + verbs.map { (definition(of: $0), step($0)) }
  }

  private static var repeatBlock: SchemaNode {
    let count: SchemaNode = [
      "description": "The number of times to run the steps.", "type": ["integer", "string"],
      "minimum": 1, "maximum": .number(InputLimits.repeats), "pattern": "^[+]?0*[1-9][0-9]*$",
    ]
    let steps = described("steps", "The steps to repeat.")
    return .pairs([
      ("description", "Steps that run several times."), ("type", "object"),
      ("properties", .pairs([(StepReader.repetition, count), ("steps", steps)])),
      ("required", .texts([StepReader.repetition, "steps"])), ("additionalProperties", false),
    ])
  }

  /// The schema of a variant's `set`, which can change any option of a shared step.
  static var settings: SchemaNode {
    .pairs([
      ("description", "The options to change in shared steps: NAME.option and its value."),
      ("type", "object"),
      (
        "patternProperties",
        .pairs(OptionWord.allCases.map { ("^[^.]+[.]\($0.rawValue)$", value(of: $0)) })
      ),
      ("additionalProperties", false),
    ])
  }

  private static func definition(of verb: Verb) -> String { "\(verb.rawValue)-step" }

  private static func step(_ verb: Verb) -> SchemaNode {
    var properties = [(verb.rawValue, subject(of: verb))]
    if let key = verb.pathsKey {
      let sentence = "Key paths from the result's objects."
      let isNeeded = verb.needs.contains { $0.contains(key) }
      properties.append((key, described(isNeeded ? "key-paths" : "paths-or-none", sentence)))
    }
    properties += verb.allOptions.map { ($0.rawValue, value(of: $0, for: verb)) }
    if let named = verb.named {
      let sentence =
        named == .result ? "The name of the step's result." : "The name of the index."
      properties.append(("as", described("name-option", sentence)))
    }
    properties.append(
      ("fails", described("code-option", "The error code that the step must fail with.")))
    properties.append(("expect", described("expect", "The expectations of this step.")))
    let needs = verb.needs
    var step: [(String, SchemaNode)] = [
      ("description", .text("\(verb.summary): \(verb.usage)")), ("type", "object"),
      ("properties", .pairs(properties)),
      ("required", .texts([verb.rawValue] + (needs.count == 1 ? needs[0] : []))),
    ]
    if needs.count > 1 {
      step.append(("anyOf", .array(needs.map { ["required": .texts($0)] })))
    }
    if !verb.clashes.isEmpty { step.append(("not", ["required": .texts(verb.clashes)])) }
    return .pairs(step + [("additionalProperties", false)])
  }

  private static func subject(of verb: Verb) -> SchemaNode {
    let subject: SchemaNode =
      switch verb.subject {
      case .entity:
        [
          "description": "The name of an entity.", "type": ["string", "boolean"], "minLength": 1,
        ]
      case .result: described("name", "The name of a result.")
      case .context: described("name", "The name of an existing or a new context.")
      case .text where verb == .sql:
        [
          "description": "A statement to run on a separate connection.",
          "type": ["string", "number", "boolean"], "pattern": "\\S",
        ]
      case .text where verb == .history:
        [
          "description": "`track` reopens the store with history, `purge` deletes it.",
          "enum": .texts(HistoryAction.allCases.map(\.rawValue)),
        ]
      case .text where verb == .migrate: described("text", "The version to migrate to.")
      case .text:
        [
          "description": "The name of a pragma that applies only to the store.", "type": "string",
          "anyOf": [
            ["enum": .texts(Connection.allowedPragmas)], ["pattern": "^[a-z_]*[A-Z][A-Za-z_]*$"],
          ],
        ]
      case .none: ["description": "The verb doesn't take a value.", "type": "null"]
      }
    return subject
  }

  /// Returns the schema of an option's value.
  ///
  /// - Parameters:
  ///   - option: The option.
  ///   - verb: The step's verb, or `nil` for any verb.
  private static func value(of option: OptionWord, for verb: Verb? = nil) -> SchemaNode {
    let sentence = "\(option.summary) (\(option.example))"
    switch option.kind {
    case .assignments where option == .assignments && (verb ?? .batchUpdate) == .batchUpdate:
      return described("updates", sentence)
    case .choice:
      return SchemaNode.pairs([("description", .text(sentence))])
        .with(single(["enum": .texts(option.choices)]).members)
    case .number:
      let numbers = option.numbers
      let least: [(String, SchemaNode)] =
        numbers.lowerBound > 0
        ? [("minimum", .number(numbers.lowerBound)), ("not", ["enum": ["0"]])] : []
      return described("number-option", sentence).with(
        least + [("maximum", .number(numbers.upperBound))])
    default: return described(definition(of: option.kind), sentence)
    }
  }

  private static func definition(of kind: OptionWord.Kind) -> String {
    switch kind {
    case .predicate: "predicate"
    case .sortKeys: "sort-keys"
    case .keyPaths: "key-paths"
    case .columns: "columns"
    case .number: "number-option"
    case .seconds: "seconds-option"
    case .flag: "flag-option"
    case .assignments: "assignments"
    case .name: "name-option"
    case .text, .choice: "text-option"
    }
  }

  /// The schema of an expression that a batch update evaluates for each row.
  private static var rowExpression: SchemaNode {
    let format: SchemaNode = ["type": ["string", "number", "boolean"], "pattern": "\\S"]
    return .pairs([
      ("description", "An expression in NSExpression's format, evaluated for each row."),
      ("type", "object"), ("properties", .pairs([(StepReader.expression, format)])),
      ("required", .texts([StepReader.expression])), ("additionalProperties", false),
    ])
  }

  private static var optionDefinitions: [(String, SchemaNode)] {
    // A word is anything but whitespace and the separators of words.
    let word: SchemaNode = ["type": ["string", "boolean"], "pattern": "[^\\s,\\[\\]]"]
    let list: [(String, SchemaNode)] = [
      ("type", ["string", "boolean", "array"]), ("pattern", "[^\\s,\\[\\]]"), ("minItems", 1),
      ("items", word),
    ]
    let text: SchemaNode = ["type": ["string", "number", "boolean"], "minLength": 1]
    let values = ["seconds", "flag", "name", "code"].map { name in
      ("\(name)-option", single(.definition(name)))
    }
    return values + [
      ("number-option", single(.definition("expression"))),
      ("text-option", single(text)),
      ("predicate", single(["type": "string", "pattern": "\\S"])),
      ("sort-keys", .pairs(list)),
      ("key-paths", .pairs(list)),
      (
        "paths-or-none",
        ["anyOf": [.definition("key-paths"), ["type": ["null", "array"], "maxItems": 0]]]
      ),
      ("columns", .pairs(list)),
      (
        "assignments",
        ["type": "object", "minProperties": 1, "additionalProperties": .definition("word")]
      ),
      (
        "updates",
        [
          "type": "object", "minProperties": 1,
          "additionalProperties": ["anyOf": [.definition("word"), .definition("row-expression")]],
        ]
      ),
      ("row-expression", rowExpression),
    ]
  }
}
