package import ProfileEvents

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
  }

  /// The result that the JSON represents.
  package var result: ExpectationResult {
    ExpectationResult(
      metric: metric, formula: law, relation: relation, expected: expected, actual: found,
      isMet: holds,
      source: source, location: location.site, differences: differences)
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
