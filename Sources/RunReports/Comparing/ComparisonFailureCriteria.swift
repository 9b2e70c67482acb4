import ManagedModel
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// The differences between two results or logs that fail a comparison; times never do.
package struct ComparisonFailureCriteria: Sendable, Equatable {
  /// A value of `--fail-on` that isn't a metric.
  package enum Word: String, CaseIterable, Sendable {
    /// A count that's a cost increased.
    case more
    /// A count increased or decreased.
    case change
    /// A new finding fired.
    case findings
    /// A variant no longer exists.
    case missing
    /// No difference fails the comparison.
    case none
  }

  private var words: Set<Word>
  /// The metrics that must not increase.
  private var metrics: Set<Metric>

  /// The values that `init(_:)` accepts.
  package static var words: [String] {
    Word.allCases.map(\.rawValue) + Metric.allCases.filter(\.isExact).map(\.rawValue)
  }

  /// The default: `more`, `findings`, and `missing`.
  package static let standard = ComparisonFailureCriteria(
    words: [.more, .findings, .missing], metrics: [])

  /// The criteria of a baseline: an increased count that's a cost.
  package static let increases = ComparisonFailureCriteria(words: [.more], metrics: [])

  private init(words: Set<Word>, metrics: Set<Metric>) {
    self.words = words
    self.metrics = metrics
  }

  /// Parses a comma-separated list, such as `more,findings` or `selects,misses`.
  ///
  /// - Throws: `InvalidWord` if an element is neither a `Word` nor an exact metric, or if `none`
  ///   isn't the only one.
  package init(_ text: String) throws(InvalidWord) {
    self.init(words: [], metrics: [])
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let word = part.filter { !$0.isWhitespace }
      if let known = Word(rawValue: word) {
        words.insert(known)
      } else if let metric = Metric(rawValue: word), metric.isExact {
        metrics.insert(metric)
      } else {
        throw InvalidWord(word: word)
      }
    }
    if words.contains(.none), words.count + metrics.count > 1 {
      throw InvalidWord(word: Word.none.rawValue)
    }
  }

  /// The error for an invalid value of `--fail-on`.
  package struct InvalidWord: Error, CustomStringConvertible {
    package let word: String

    /// The error message, with a suggestion and the valid values.
    package var description: String {
      guard word != Word.none.rawValue else {
        return "`\(word)` can't be combined with other values of --fail-on"
      }
      let known = ComparisonFailureCriteria.words
      let question = NearestName.question(for: word, among: known)
      return "`\(word)` isn't a value of --fail-on\(question)\nuse one or more of: "
        + known.joined(separator: ",")
    }
  }

  /// Returns a message for each difference that fails the comparison; an empty array if it passes.
  package func failures(of comparison: RunComparison) -> [String] {
    var failures: [String] = []
    for variant in comparison.variants {
      for count in variant.differences where isFailure(count) {
        failures.append(
          "\(variant.name): \(count.metric) \(NumberText.grouped(count.before)) → "
            + "\(NumberText.grouped(count.after))")
      }
      if words.contains(.findings) {
        failures += variant.newFindings.map { "\(variant.name): \($0) now fires" }
      }
    }
    if words.contains(.change) {
      failures += comparison.statements.filter(\.differs).map { statement in
        "\(NumberText.grouped(statement.calls.before)) → "
          + "\(NumberText.counted(statement.calls.after, "call")) of "
          + SQLAbbreviation.short(statement.sql)
      }
    }
    if words.contains(.missing) {
      failures += comparison.missing.map { "\($0): no longer exists" }
    }
    return failures
  }

  /// Returns whether a count that differs fails the comparison.
  func isFailure(_ count: ComparedCount) -> Bool {
    if words.contains(.change) { return true }
    guard count.after > count.before else { return false }
    return metrics.contains(count.metric.metric)
      || (words.contains(.more) && count.metric.metric.isCost)
  }
}
