/// Where an expectation comes from; Apple's framework cannot be run here.
package enum SourceMark: String, Sendable, Codable, CaseIterable {
  /// Printed in the book.
  case book
  /// Follows from the book.
  case derived
  /// Seen in a real log or store of Apple's framework.
  case apple
  /// Chosen here; see DEVIATIONS.md.
  case ours
}
