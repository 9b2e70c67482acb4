package import ProfileEvents

/// What a part of a log cost, in the words of the metric catalogue.
package struct LogCosts: Sendable, Equatable {
  /// All of it together.
  package internal(set) var all: [Metric: Int] = [:]
  /// Statements and rows by the table in upper case.
  package internal(set) var byTable: [String: [Metric: Int]] = [:]
  /// Object faults by the entity's name.
  package internal(set) var byEntity: [String: [Metric: Int]] = [:]
  /// Relationship faults by `Entity.relationship`, prefetches by the relationship alone.
  package internal(set) var byRelationship: [String: [Metric: Int]] = [:]
  /// Times of the statements, nothing counted twice, in microseconds.
  package internal(set) var microseconds = 0

  package init() {}

  subscript(metric: Metric) -> Int { all[metric, default: 0] }

  mutating func count(_ metric: Metric, _ amount: Int = 1, table: String?) {
    all[metric, default: 0] += amount
    if let table { byTable[table.uppercased(), default: [:]][metric, default: 0] += amount }
  }

  mutating func count(_ metric: Metric, entity: String?) {
    all[metric, default: 0] += 1
    if let entity { byEntity[entity, default: [:]][metric, default: 0] += 1 }
  }

  mutating func count(_ metric: Metric, relationship: String?) {
    all[metric, default: 0] += 1
    if let relationship { byRelationship[relationship, default: [:]][metric, default: 0] += 1 }
  }
}
