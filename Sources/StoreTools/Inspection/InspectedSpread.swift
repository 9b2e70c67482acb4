/// How many objects a relationship leads to, over all its owners.
package struct InspectedSpread: Sendable, Equatable, Encodable {
  /// Objects that have the relationship, those of sub-entities included.
  package var owners: Int
  /// Owners that it leads from to nothing.
  package var empty: Int
  /// Destinations of all owners together.
  package var links: Int
  /// Destinations of the owner with the most.
  package var most: Int

  /// Destinations of an owner in the mean; 0 without owners.
  package var mean: Double {
    owners == 0 ? 0 : Double(links) / Double(owners)
  }
}
