/// What a piece of work says about the indexes of its store.
package struct IndexAdvice: Sendable {
  /// An index of the store that another one, there or proposed, makes superfluous.
  package struct Redundant: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    /// The index that serves the same searches.
    package var servedBy: String
    /// Whether that one is only proposed.
    package var isServedByProposal: Bool
  }

  /// An index of the store that no statement of the work used.
  package struct Unused: Sendable, Equatable {
    package var name: String
    package var table: String
    package var columns: [String]
    package var bytes: Int?
  }

  /// Indexes that helped when they were tried, the one with the greatest gain first.
  package var proposals: [IndexProposal]
  package var redundant: [Redundant]
  package var unused: [Unused]
  /// Statements that were looked at.
  package var statements: Int
  /// Statements that could not be run on the copy, and were left out.
  package var unmeasured: [String]
  /// Indexes that were tried.
  package var tried: Int

  /// Whether there is nothing to do.
  package var isEmpty: Bool { proposals.isEmpty && redundant.isEmpty && unused.isEmpty }
}
