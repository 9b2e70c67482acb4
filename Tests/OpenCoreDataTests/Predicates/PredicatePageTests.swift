import Testing

@testable import ManagedModel

/// `Documentation/predicates.md` matches the parser, the printer, and the translator.
@Suite struct PredicatePageTests {
  @Test func pageMatchesTheCode() throws {
    let file = TestModels.root.appendingPathComponent(PredicatePage.path)
    let text = try PredicatePage().text()
    if ProcessInfo.processInfo.environment["CDPROF_UPDATE_DOCS"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let page = try String(contentsOf: file, encoding: .utf8)
    #expect(page == text, "run this test once with CDPROF_UPDATE_DOCS=1")
  }

  @Test("S12-4 equivalent formats are printed the same, and the result parses to an equal tree")
  func spellingsOfARowAreEqual() throws {
    for row in PredicatePage.sections.flatMap(\.rows) {
      let first = try NSPredicate.parse(row.spellings[0])
      for spelling in row.spellings {
        let predicate = try NSPredicate.parse(spelling)
        #expect(predicate == first, "\(spelling)")
        #expect(try NSPredicate.parse(predicate.predicateFormat) == predicate, "\(spelling)")
      }
    }
  }

  /// The page contains every keyword, function, option, and operator of the parser.
  @Test func everyKeywordIsOnThePage() throws {
    let written = PredicatePage.sections.flatMap(\.rows).flatMap(\.spellings)
    let text = written.joined(separator: "\n").lowercased()
    let words =
      PredicateKeyword.allCases.map(\.rawValue) + CollectionOperator.allCases.map(\.rawValue)
      + CastTarget.allCases.map(\.rawValue)
      + PredicateFunction.allCases.filter { $0 != .cast }.map { $0.infix ?? $0.formatName }
    func isThere(_ word: String) -> Bool {
      text.ranges(of: word.lowercased()).contains { range in
        let before = text[..<range.lowerBound].last?.isLetter ?? false
        let after = text[range.upperBound...].first?.isLetter ?? false
        return !before && !after
      }
    }
    for word in words where !isThere(word) {
      Issue.record("\(PredicatePage.path) does not have \(word)")
    }
    for option in "cdnlw" {
      let isThere = written.contains { spelling in
        spelling.matches(of: /\[([a-z]+)\]/).contains { $0.1.contains(option) }
      }
      #expect(isThere, "[\(option)]")
    }
    for type in NSComparisonPredicate.Operator.allCases {
      let isThere = written.contains { spelling in
        guard case .comparison(let comparison)? = try? NSPredicate.parse(spelling).form else {
          return false
        }
        return comparison.predicateOperatorType == type
      }
      #expect(isThere, "\(type)")
    }
  }
}
