import StatementAnalysis

/// Statements of a log that come one after the other where one would do.
package struct LogStorm: Sendable, Equatable {
  /// What repeats.
  package enum Kind: String, Sendable, CaseIterable {
    /// Object or to-many faults that each went to the database.
    case faultStorm = "fault-storm"
    /// The same fetch or count again and again.
    case fetchLoop = "fetch-loop"
  }

  /// Fewer are not worth a word.
  package static let threshold = StatementShape.fewestRepeats

  package var kind: Kind
  /// `Country`, `Item.tags`; a table where no entity is known.
  package var subject: String
  /// The statement that repeats, by its number.
  package var statement: Int
  /// Times that it happened.
  package var runs: Int
  /// Statements in all of them.
  package var count: Int
  /// Statements in the largest.
  package var longest: Int
  /// Where the first begins, counted from 1.
  package var firstLine: Int
  package var lastLine: Int
  /// The time in front of its first line, as the log has it.
  package var firstTime: String
  /// What its statements took, in microseconds.
  package var microseconds: Int

  /// `fault-storm(Country)`: what `findings` lists.
  package var name: String { "\(kind.rawValue)(\(subject))" }

  /// What to do about it, in words: a log shows no request to write the cure into.
  package var cure: String {
    switch kind {
    case .faultStorm where subject.contains("."):
      let name = subject.split(separator: ".").last ?? ""
      return "fetch the owners with relationshipKeyPathsForPrefetching = [\"\(name)\"]"
    case .faultStorm:
      return "fetch these objects before they are read: with their property values, by "
        + "prefetching the relationship that leads to them, or by `self IN objects`"
    case .fetchLoop:
      return "fetch once with an IN or OR predicate before the loop, or keep the result"
    }
  }
}
