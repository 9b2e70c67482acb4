package import ProfileEvents

/// One line of an `expect` block and what came of it.
package struct ExpectationResult: Sendable, Equatable {
  /// How expected and found are compared.
  package enum Relation: String, Sendable, Codable {
    case equal
    case atMost
    case atLeast
    case between
    /// `plan(moods): uses NAME`, `avoids scan`.
    case plan
  }

  /// As written: `misses(Country)`.
  package var metric: String
  /// As written: `1 + Mood + Country`, `at most 100`.
  package var law: String
  package var relation: Relation
  /// A number for `equal`, `atMost` and `atLeast`; the text `A..B` for `between`.
  package var expected: ExpectationValue
  package var found: ExpectationValue
  package var holds: Bool
  package var source: SourceMark
  /// Where it is written.
  package var location: CallSite
  /// When it does not hold: sentences about the events behind the difference, most telling first.
  package var differences: [String]

  package init(
    metric: String, law: String, relation: Relation, expected: ExpectationValue,
    found: ExpectationValue, holds: Bool, source: SourceMark, location: CallSite,
    differences: [String] = []
  ) {
    self.metric = metric
    self.law = law
    self.relation = relation
    self.expected = expected
    self.found = found
    self.holds = holds
    self.source = source
    self.location = location
    self.differences = differences
  }

  /// In the place of a metric: the error code with which a step must fail, 0 for none.
  package static let fails = "fails"

  /// What was found, for a person: `5,061`, `no error`.
  package var foundText: String {
    guard metric == ExpectationResult.fails, case .number(let code) = found else {
      return found.description
    }
    return code == 0 ? "no error" : String(code)
  }

  /// What was asked for with its comparison: `5,061`, `at most 100`.
  package var expectedText: String {
    // A code is a name and no number.
    if metric == ExpectationResult.fails { return law }
    return switch relation {
    case .equal, .between, .plan: expected.description
    case .atMost: "at most \(expected)"
    case .atLeast: "at least \(expected)"
    }
  }
}

extension Law {
  /// How the law compares, and with what.
  ///
  /// - Throws: when an expression has no value.
  package func compared(
    in scope: LawScope
  ) throws(LawError) -> (ExpectationResult.Relation, ExpectationValue) {
    switch relation {
    case .equal: (.equal, .number(try value(in: scope)))
    case .atMost: (.atMost, .number(try value(in: scope)))
    case .atLeast: (.atLeast, .number(try value(in: scope)))
    case .range: (.between, .text(try expectation(in: scope)))
    }
  }
}
