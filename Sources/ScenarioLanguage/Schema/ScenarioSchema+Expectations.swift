import ProfileEvents

extension ScenarioSchema {
  /// A number, a name or `ceil(` of one, brackets and signs around it.
  private static let operand = "([( -]|ceil *[(])*[\\p{L}\\p{N}_]+[) ]*"
  /// Operands and what stands between them; whether brackets match is the reader's to see.
  private static let expression = "\(operand)([+*/-]\(operand))*"

  /// `expect`, laws, demands on plans.
  static var expectationDefinitions: [(String, SchemaNode)] {
    let law = "((at most |at least )?\(expression)|\(expression)[.][.]\(expression))"
    return [
      (
        "expression",
        ["type": ["integer", "string"], "minimum": 0, "pattern": .text("^\(expression)$")]
      ),
      ("law", ["type": ["integer", "string"], "minimum": 0, "pattern": .text("^\(law)$")]),
      ("expectation", marked(.definition("law"))),
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
          "type": "object", "properties": ["law": value, "source": .definition("source")],
          "required": ["law"], "additionalProperties": false,
        ],
      ]
    ]
  }

  private static var demand: String {
    let forms = PlanDemand.forms.map { form in
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
