import ProfileEvents
import Profiling
import ScenarioLanguage
import WorkbenchText

/// One row a variant, in the file's order: the order is the lesson.
struct ReportTable {
  /// The metric that has the bars.
  let lead: Metric
  let leadHeading: String
  let headings: [Heading]
  let rows: [Row]

  struct Heading {
    var text: String
    /// `=` and `+`, which make a sum of three columns.
    var sign: String?
  }

  struct Row {
    var name: String
    var anchor: String
    var holds: Bool
    /// How many findings; nil for none.
    var findings: Int?
    var value: Int
    var text: String
    /// Of the widest bar, in percent.
    var width: String
    /// Nothing to draw, or too little to see.
    var isDot: Bool
    /// As written; when it was not met, with the number it asked for.
    var law: String?
    var isLawMissed: Bool
    var cells: [Cell]
    var metric: String
  }

  struct Cell {
    var metric: String
    var value: Int
    var text: String
    /// Stands behind the number on a phone.
    var unit: String
    /// A class of the style sheet.
    var role: String
  }

  init(_ result: RunResult) {
    let lead = ReportTable.lead(of: result.variants)
    let columns = ReportColumn.all(for: result.variants, lead: lead)
    let most = result.variants.map { $0.metrics[lead] ?? 0 }.max() ?? 0
    self.lead = lead
    leadHeading = lead.heading
    headings = columns.map { Heading(text: $0.heading, sign: $0.sign) }
    rows = result.variants.enumerated().map { index, variant in
      let value = variant.metrics[lead] ?? 0
      let expectation = variant.expectations.first { $0.metric == lead.rawValue }
      let width = most > 0 ? Double(value) / Double(most) * 100 : 0
      return Row(
        name: variant.name, anchor: "variant-\(index + 1)", holds: variant.holds,
        findings: variant.findings.isEmpty ? nil : variant.findings.count, value: value,
        text: NumberText.grouped(value), width: ReportTable.percent(width), isDot: width < 0.2,
        law: expectation.map(ReportTable.law), isLawMissed: expectation?.holds == false,
        cells: columns.map { $0.cell(of: variant) }, metric: lead.rawValue)
    }
  }

  private static func law(_ expectation: ExpectationResult) -> String {
    if expectation.holds { return expectation.law }
    let asked = expectation.expectedText
    return asked == expectation.law ? "expected \(asked)" : "expected \(asked) = \(expectation.law)"
  }

  /// The metric the sentence and the bars are about.
  ///
  /// Statements come first, as they are what the work costs and faults only lead to them; among
  /// them the one that spreads most. When no statements spread, rows, faults, misses, objects.
  static func lead(of variants: [VariantResult]) -> Metric {
    for candidates: [Metric] in [
      [.selects, .inserts, .updates, .deletes], [.rows], [.misses], [.faults],
      [.transactions, .saves, .fetches],
    ] {
      let spreads = candidates.map { ($0, spread(of: $0, in: variants)) }
      if let widest = spreads.max(by: { $0.1 < $1.1 }), widest.1 > 1 {
        // `max` takes the last of equals; the first is the more important.
        return spreads.first { $0.1 == widest.1 }?.0 ?? widest.0
      }
    }
    return .selects
  }

  /// How many times the least is in the most; nothing counts as one.
  private static func spread(of metric: Metric, in variants: [VariantResult]) -> Double {
    let values = variants.map { $0.metrics[metric] ?? 0 }
    guard let least = values.min(), let most = values.max(), most > least else { return 1 }
    return Double(most) / Double(max(1, least)) + (least == 0 ? 1 : 0)
  }

  /// Two places, without the zeros at the end.
  private static func percent(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    let places = hundredths % 100
    return places == 0
      ? "\(hundredths / 100)" : "\(hundredths / 100).\(places < 10 ? "0" : "")\(places)"
  }
}
