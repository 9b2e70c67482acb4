/// One attribute of an entity.
package struct InspectedAttribute: Sendable, Equatable {
  package var name: String
  /// As Xcode calls it, `Integer 64`; a column's declared type when only the tables were read.
  package var type: String
  package var isOptional: Bool
  package var isTransient: Bool
  package var isDerived: Bool
}
