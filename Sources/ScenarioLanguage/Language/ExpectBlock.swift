import ProfileEvents

/// What a variant or a step must have cost.
package struct ExpectBlock: Sendable, Equatable {
  /// The findings that must fire, neither more nor fewer.
  package struct Findings: Sendable, Equatable {
    package var names: [FindingName]
    package var source: SourceMark
    /// The line they are written on.
    package var line: Int

    package init(names: [FindingName], source: SourceMark, line: Int) {
      self.names = names
      self.source = source
      self.line = line
    }

    package static func == (first: Findings, second: Findings) -> Bool {
      Set(first.names) == Set(second.names) && first.source == second.source
    }
  }

  /// In the order of writing.
  package var expectations: [Expectation]
  /// What query plans must be, in the order of writing.
  package var plans: [PlanExpectation] = []
  /// Nil when nothing is written, which says that none may fire.
  package var findings: Findings?
  /// The line of the block.
  package var line: Int

  package init(expectations: [Expectation] = [], findings: Findings? = nil, line: Int) {
    self.expectations = expectations
    self.findings = findings
    self.line = line
  }

  /// Whether it asks how long the store's files are, which no event tells.
  package var wantsPages: Bool {
    expectations.contains { [.filepages, .walpages, .freepages].contains($0.scoped.metric) }
  }

  package static func == (first: ExpectBlock, second: ExpectBlock) -> Bool {
    first.expectations == second.expectations && first.plans == second.plans
      && first.findings == second.findings
  }
}
