/// Where a claim comes from; every expectation and every covered id carries one.
package enum SourceMark: String, CaseIterable, Sendable {
  /// Printed in the book.
  case book
  /// Follows from the book.
  case derived
  /// Seen in a real log or store of Apple's framework.
  case apple
  /// Chosen here, where the sources are silent.
  case ours
}
