package import ProfileEvents
import WorkbenchText

/// The result of evaluating one expectation of an `expect` block.
package struct ExpectationResult: Sendable, Equatable {
  /// The comparison between the expected and the actual value.
  package enum Relation: String, Sendable, Codable {
    case equal
    case atMost
    case atLeast
    case between
    /// A plan requirement, such as `plan(moods): uses NAME` or `avoids scan`.
    case plan
  }

  /// The metric as written, such as `misses(Country)`.
  package var metric: String
  /// The formula as written, such as `1 + Mood + Country` or `at most 100`.
  package var formula: String
  package var relation: Relation
  /// The expected value: a number for `equal`, `atMost`, and `atLeast`; the string `A..B` for
  /// `between`.
  package var expected: ExpectationValue
  /// The actual value.
  package var actual: ExpectationValue
  /// Whether the expectation is met.
  package var isMet: Bool
  package var source: SourceMark
  /// The source file and line of the expectation.
  package var location: CallSite
  /// If the expectation isn't met, messages about the events that explain the difference, most
  /// significant first.
  package var differences: [String]
  /// The reason why the engine of the run doesn't allow the expectation to be evaluated, or `nil`
  /// if it was.
  ///
  /// Such an expectation isn't evaluated, so it doesn't fail the run.
  package var obstacle: String?

  package init(
    metric: String, formula: String, relation: Relation, expected: ExpectationValue,
    actual: ExpectationValue, isMet: Bool, source: SourceMark, location: CallSite,
    differences: [String] = []
  ) {
    self.metric = metric
    self.formula = formula
    self.relation = relation
    self.expected = expected
    self.actual = actual
    self.isMet = isMet
    self.source = source
    self.location = location
    self.differences = differences
  }

  /// Whether the expectation was evaluated and isn't met.
  package var isUnmet: Bool { obstacle == nil && !isMet }

  /// The value of `metric` for an expected error; the result's values are error codes, 0 for no
  /// error.
  package static let fails = "fails"

  /// The actual value for display, such as `5,061` or `no error`.
  package var actualText: String {
    if obstacle != nil { return "not evaluated" }
    guard metric == ExpectationResult.fails, case .number(let code) = actual else {
      return actual.description
    }
    return code == 0 ? "no error" : String(code)
  }

  /// The expected value with its comparison for display, such as `5,061` or `at most 100`.
  package var expectedText: String {
    // An error code identifies an error; it isn't grouped like a count.
    if metric == ExpectationResult.fails { return formula }
    return switch relation {
    case .equal, .between, .plan: expected.description
    case .atMost: "at most \(expected)"
    case .atLeast: "at least \(expected)"
    }
  }

  /// The formula if it's more than the expected value, such as `at most 1 + Country`; otherwise,
  /// `nil`.
  package var calculation: String? {
    let text = expectedText
    // A formula's numbers aren't grouped.
    return formula == text || formula == text.replacing(",", with: "") ? nil : formula
  }
}

extension CountConstraint {
  /// Returns the relation of the formula and the value to compare with.
  ///
  /// - Throws: A `CountExpressionError` if an expression has no value.
  package func compared(
    in scope: CountExpressionScope
  ) throws(CountExpressionError) -> (ExpectationResult.Relation, ExpectationValue) {
    switch relation {
    case .equal: (.equal, .number(try value(in: scope)))
    case .atMost: (.atMost, .number(try value(in: scope)))
    case .atLeast: (.atLeast, .number(try value(in: scope)))
    case .range: (.between, .text(try expectation(in: scope)))
    }
  }
}

/// An expected or actual value: a count, a list of findings, or the text of a plan.
package enum ExpectationValue: Sendable, Equatable, CustomStringConvertible {
  case number(Int)
  case names([String])
  case text(String)

  /// The value for display, such as `5,061`, `fault-storm(Mood), fault-storm(Mood.country)`, or
  /// `none`.
  package var description: String {
    switch self {
    case .number(let number): NumberText.grouped(number)
    case .names(let names): names.isEmpty ? "none" : names.joined(separator: ", ")
    case .text(let text): text
    }
  }
}

extension ExpectationValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let names = try? container.decode([String].self) {
      self = .names(names)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .names(let names): try container.encode(names)
    case .text(let text): try container.encode(text)
    }
  }
}

/// An expectation's result in the JSON file.
///
/// The property names are the JSON keys.
package struct JSONExpectation: Codable {
  var metric: String
  var law: String
  var relation: ExpectationResult.Relation
  var expected: ExpectationValue
  var found: ExpectationValue
  var holds: Bool
  var source: SourceMark
  var location: JSONLocation
  var differences: [String]
  var unevaluated: String?

  package init(_ result: ExpectationResult) {
    metric = result.metric
    law = result.formula
    relation = result.relation
    expected = result.expected
    found = result.actual
    holds = result.isMet
    source = result.source
    location = JSONLocation(result.location)
    differences = result.differences
    unevaluated = result.obstacle
  }

  /// The result that the JSON represents.
  package var result: ExpectationResult {
    var result = ExpectationResult(
      metric: metric, formula: law, relation: relation, expected: expected, actual: found,
      isMet: holds,
      source: source, location: location.site, differences: differences)
    result.obstacle = unevaluated
    return result
  }
}

/// A call site, encoded as the string `FILE:LINE`, such as `Scenarios/faults.yml:16`.
package struct JSONLocation: Codable {
  package var site: CallSite

  package init(_ site: CallSite) {
    self.site = site
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let colon = text.lastIndex(of: ":"), let line = Int(text[colon...].dropFirst()) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "`\(text)` doesn't have the form FILE:LINE")
    }
    site = CallSite(file: String(text[..<colon]), line: line)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(site.file):\(site.line)")
  }
}
