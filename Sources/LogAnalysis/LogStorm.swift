import StatementAnalysis

/// Repeated statements in a log that one statement could replace.
package struct LogStorm: Sendable, Equatable {
  /// The kind of the repeated statements.
  package enum Kind: String, Sendable, CaseIterable {
    /// Object faults or to-many relationship faults that each ran their own SELECT.
    case faultStorm = "fault-storm"
    /// Repetitions of the same fetch or count.
    case fetchLoop = "fetch-loop"
  }

  /// The minimum number of repetitions to report.
  package static let threshold = StatementShape.minimumRepeats

  package var kind: Kind
  /// The entity or relationship, such as `Country` or `Item.tags`, or the table if the entity is
  /// unknown.
  package var subject: String
  /// The number of the repeated statement.
  package var statement: Int
  /// The number of times that the repetition occurred.
  package var runs: Int
  /// The total number of statements.
  package var count: Int
  /// The number of statements in the longest repetition.
  package var longest: Int
  /// The line number of the first statement, starting at 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time of the first line, as the log contains it.
  package var firstTime: String
  /// The total time of the statements, in microseconds.
  package var microseconds: Int

  /// The name of the finding in `findings`, such as `fault-storm(Country)`.
  package var name: String { "\(kind.rawValue)(\(subject))" }

  /// A description of the fix.
  ///
  /// A log doesn't contain the request, so the fix can't be expressed as code.
  package var fix: String {
    switch kind {
    case .faultStorm where subject.contains("."):
      let name = subject.split(separator: ".").last ?? ""
      return "fetch the owners with relationshipKeyPathsForPrefetching = [\"\(name)\"]"
    case .faultStorm:
      return "fetch these objects before they are read: with their property values, by "
        + "prefetching the relationship that refers to them, or by `self IN objects`"
    case .fetchLoop:
      return "fetch once with an IN or OR predicate before the loop, or keep the result"
    }
  }
}
