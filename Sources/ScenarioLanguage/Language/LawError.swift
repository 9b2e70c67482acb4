package import WorkbenchText

/// An expression that has no whole value.
package struct LawError: Error, Sendable, CustomStringConvertible {
  /// The expression as written.
  package let text: String
  /// Why it has none, and what to do.
  package let message: String
  /// Where the expression is written.
  package let place: SourcePlace

  package var description: String { "`\(text)`: \(message)" }
}
