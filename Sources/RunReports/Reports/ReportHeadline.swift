import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

extension String {
  /// The text as one paragraph: every sequence of white space is a single space.
  var joiningLines: String {
    split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

/// The sentence below the title: the author's, or one that's generated from the table.
struct ReportHeadline {
  /// A part of the sentence, which is emphasized if it's a number.
  struct Part {
    var text: String
    var isNumber: Bool
  }

  let parts: [Part]

  /// The sentence as plain text.
  var text: String { parts.map(\.text).joined() }

  init(_ result: RunResult, lead: ScopedMetric) {
    if let headline = result.headline {
      parts = ReportHeadline.emphasizingNumbers(in: headline)
      return
    }
    let phrase = MetricPhrase(lead)
    let values = result.variants.compactMap { variant in
      variant.value(of: lead).map { (variant.name, $0) }
    }
    guard let low = values.min(by: { $0.1 < $1.1 }), let high = values.max(by: { $0.1 < $1.1 }),
      low.1 != high.1
    else {
      let value = values.first?.1 ?? 0
      let names = values.map { "“\($0.0)”" }.joined(separator: " and ")
      let subject =
        values.count == result.variants.count
        ? values.count == 1 ? "This work" : "Every variant"
        : values.count > 1 ? "Each of \(names)" : names
      parts = [
        Part(text: "\(subject) \(phrase.verb) ", isNumber: false),
        Part(text: phrase.object(value), isNumber: true),
        Part(text: phrase.end + ".", isNumber: false),
      ]
      return
    }
    // `max` returns the last of equal elements; the first one is named, as for the minimum.
    let most = values.first { $0.1 == high.1 } ?? high
    parts = [
      Part(text: "“\(low.0)” \(phrase.verb) ", isNumber: false),
      Part(text: phrase.object(low.1), isNumber: true),
      Part(text: "\(phrase.end); “\(most.0)” \(phrase.verb) ", isNumber: false),
      Part(text: NumberText.grouped(most.1), isNumber: true),
      Part(
        text: "."
          + ReportHeadline.difference(result.variants.filter { [low.0, most.0].contains($0.name) }),
        isNumber: false),
    ]
  }

  /// Returns a sentence if the variants differ only in their fetch requests.
  private static func difference(_ variants: [VariantResult]) -> String {
    let others = Set(variants.map { $0.steps.map { $0.fetch == nil ? $0.text : nil } })
    return others.count == 1 ? " Only the fetch request differs." : ""
  }

  private static func emphasizingNumbers(in text: String) -> [Part] {
    var parts: [Part] = []
    var rest = text[...]
    while let number = rest.firstMatch(of: /\b[0-9]+(?:,[0-9]{3})*/) {
      parts.append(Part(text: String(rest[..<number.range.lowerBound]), isNumber: false))
      parts.append(Part(text: String(number.0), isNumber: true))
      rest = rest[number.range.upperBound...]
    }
    return (parts + [Part(text: String(rest), isNumber: false)]).filter { !$0.text.isEmpty }
  }
}

/// The unmet expectations of a variant, which appear first on the page.
struct UnmetExpectations {
  struct Line {
    var metric: String
    /// The formula; `nil` if it's the same as the expected number.
    var formula: String?
    var expected: String
    var actual: String
    var location: String
  }

  let variant: String
  /// The section of the variant on a page; `nil` if it has none.
  let anchor: String?
  private(set) var lines: [Line]
  /// The number of lines that aren't shown; `nil` if all are.
  private(set) var more: String?
  /// The events that account for the differences, without duplicates.
  private(set) var differences: [String]

  /// Returns the variants with unmet expectations in the order of the file, then those of other
  /// scales.
  static func all(of result: RunResult) -> [UnmetExpectations] {
    let detailed = Set(result.detailedVariants)
    func anchor(_ index: Int) -> String? {
      detailed.contains(index) ? "variant-\(index + 1)" : nil
    }
    let here = result.variants.enumerated().compactMap { index, variant in
      UnmetExpectations(variant.name, anchor: anchor(index), variant.expectations)
    }
    let elsewhere = result.scales.flatMap { run in
      run.variants.enumerated().compactMap { index, variant in
        UnmetExpectations(
          "\(variant.name) at scale \(NumberText.grouped(run.scale))",
          anchor: anchor(index), variant.expectations)
      }
    }
    return here + elsewhere
  }

  /// Returns the same with as many lines as a page shows.
  static func shown(of result: RunResult) -> [UnmetExpectations] {
    let all = all(of: result)
    let limit = ReportPage.rows(of: all.map(\.lines.count), atMost: 200, budget: 500)
    return all.map { variant in
      guard variant.lines.count > limit else { return variant }
      var variant = variant
      variant.more = NumberText.grouped(variant.lines.count - limit)
      variant.lines.removeLast(variant.lines.count - limit)
      variant.differences = Array(variant.differences.prefix(limit))
      return variant
    }
  }

  /// Returns `nil` if all expectations are met.
  private init?(_ variant: String, anchor: String?, _ expectations: [ExpectationResult]) {
    let unmet = expectations.filter(\.isUnmet)
    guard !unmet.isEmpty else { return nil }
    self.variant = variant
    self.anchor = anchor
    lines = unmet.map(Line.init)
    var seen: Set<String> = []
    differences = unmet.flatMap(\.differences).filter { seen.insert($0).inserted }
  }
}

extension UnmetExpectations.Line {
  fileprivate init(_ expectation: ExpectationResult) {
    self.init(
      metric: expectation.metric, formula: expectation.calculation,
      expected: expectation.expectedText, actual: expectation.actualText,
      location: expectation.location.description)
  }
}
