/// One index of a store's file.
package struct InspectedIndex: Sendable, Equatable {
  package var name: String
  package var table: String
  /// In the order of the index; an expression is shown as `(expression)`.
  package var columns: [String]
  package var isUnique: Bool
  /// Whether it holds some of the rows only.
  package var isPartial: Bool
}
