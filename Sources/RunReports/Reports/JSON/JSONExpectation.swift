import ProfileEvents
import ScenarioLanguage

/// An expectation and what came of it in the JSON file; its property names are the file's keys.
struct JSONExpectation: Codable {
  var metric: String
  var law: String
  var relation: ExpectationResult.Relation
  var expected: ExpectationValue
  var found: ExpectationValue
  var holds: Bool
  var source: SourceMark
  var location: JSONLocation
  var differences: [String]

  init(_ result: ExpectationResult) {
    metric = result.metric
    law = result.law
    relation = result.relation
    expected = result.expected
    found = result.found
    holds = result.holds
    source = result.source
    location = JSONLocation(result.location)
    differences = result.differences
  }

  /// What was written.
  var result: ExpectationResult {
    ExpectationResult(
      metric: metric, law: law, relation: relation, expected: expected, found: found, holds: holds,
      source: source, location: location.site, differences: differences)
  }
}
