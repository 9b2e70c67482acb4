/// What part of a recording a number is about.
package enum MetricScope: Hashable, Sendable {
  /// Everything.
  case all
  /// Events of objects whose own entity has this name; sub-entities are not included.
  case entity(String)
  /// Relationship faults and prefetches of one relationship.
  case relationship(entity: String, name: String)
  /// What happened in the context of this name, and what was asked on its behalf.
  case context(String)
  /// What the steps of this name caused.
  case step(String)
}
