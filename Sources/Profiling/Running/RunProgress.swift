/// How far a run has come.
package enum RunProgress: Sendable, Equatable {
  /// Making the data file: rows made, of how many.
  case data(rows: Int, of: Int)
  /// Running a variant: its name and number, counted from 1, of how many.
  case variant(name: String, number: Int, of: Int)
}
