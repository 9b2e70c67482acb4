import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Which differences between two results are a failure; times never are.
package struct ComparisonGate: Sendable, Equatable {
  /// What `--fail-on` takes in addition to metrics.
  package enum Word: String, CaseIterable, Sendable {
    /// A count that is a cost has grown.
    case more
    /// A count differs, whichever way.
    case change
    /// A finding that was not there before.
    case findings
    /// A variant that is there no more.
    case missing
    /// Nothing.
    case none
  }

  private var words: Set<Word>
  /// Metrics that may not grow.
  private var metrics: Set<Metric>

  /// Every word that `init(_:)` takes.
  package static var words: [String] {
    Word.allCases.map(\.rawValue) + Metric.allCases.filter(\.isExact).map(\.rawValue)
  }

  /// What fails when nothing else is said.
  package static let standard = ComparisonGate(words: [.more, .findings, .missing], metrics: [])

  private init(words: Set<Word>, metrics: Set<Metric>) {
    self.words = words
    self.metrics = metrics
  }

  /// Reads `more,findings` or `selects,misses`.
  ///
  /// - Throws: `UnknownWord` for one that is neither a word nor an exact metric.
  package init(_ text: String) throws(UnknownWord) {
    self.init(words: [], metrics: [])
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let word = part.filter { !$0.isWhitespace }
      if let known = Word(rawValue: word) {
        words.insert(known)
      } else if let metric = Metric(rawValue: word), metric.isExact {
        metrics.insert(metric)
      } else {
        throw UnknownWord(word: word)
      }
    }
  }

  /// A word that no gate has.
  package struct UnknownWord: Error, CustomStringConvertible {
    package let word: String

    /// What can be written instead.
    package var description: String {
      let known = ComparisonGate.words
      let near = NearestName.of(word, among: known).map { "; did you mean `\($0)`?" } ?? ""
      return "`\(word)` isn't a value of --fail-on\(near)\nwrite one or more of: "
        + known.joined(separator: ",")
    }
  }

  /// Why the comparison fails, a sentence each; empty when it does not.
  package func failures(of comparison: RunComparison) -> [String] {
    var failures: [String] = []
    for variant in comparison.variants {
      for count in variant.differences where isFailure(count) {
        failures.append(
          "\(variant.name): \(count.metric) \(NumberText.grouped(count.before)) → "
            + "\(NumberText.grouped(count.after))")
      }
      if words.contains(.findings) {
        failures += variant.newFindings.map { "\(variant.name): \($0) fires now" }
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

  private func isFailure(_ count: ComparedCount) -> Bool {
    if words.contains(.change) { return true }
    guard count.after > count.before else { return false }
    return metrics.contains(count.metric.metric)
      || (words.contains(.more) && count.metric.metric.isCost)
  }
}
