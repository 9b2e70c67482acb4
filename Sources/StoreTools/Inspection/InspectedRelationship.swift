/// One relationship of an entity.
package struct InspectedRelationship: Sendable, Equatable {
  package var name: String
  /// Nil when only the tables were read, which do not tell.
  package var destination: String?
  package var inverse: String?
  package var isToMany: Bool
  package var isOrdered: Bool
  package var isOptional: Bool
  /// How many objects it leads to; nil when that cannot be told.
  package var spread: InspectedSpread?
  /// As Xcode calls it: `Nullify`.
  package var deleteRule: String?
}
