package import ProfileEvents
package import ScenarioLanguage
import WorkbenchText

/// The counts of a log or a section, by metric.
package struct LogCosts: Sendable, Equatable {
  /// The total counts.
  package internal(set) var all: [Metric: Int] = [:]
  /// The counts of statements and rows by table, in uppercase.
  package internal(set) var byTable: [String: [Metric: Int]] = [:]
  /// The counts of object faults by entity.
  package internal(set) var byEntity: [String: [Metric: Int]] = [:]
  /// The counts of relationship faults by `Entity.relationship`, and of prefetches by relationship
  /// only.
  package internal(set) var byRelationship: [String: [Metric: Int]] = [:]
  /// The counts of entities and of relationships that are too many to be counted separately.
  private(set) var otherEntities: [Metric: Int] = [:]
  private(set) var otherRelationships: [Metric: Int] = [:]
  /// The counts of object faults whose entity the log hides, by the table of their SELECT, in
  /// uppercase; by an empty string if it's unknown.
  private(set) var hiddenFaults: [String: [Metric: Int]] = [:]
  /// The counts of prefetches whose relationship the log hides.
  private(set) var hiddenRelationships: [Metric: Int] = [:]
  /// The total time of the statements in microseconds, counting nothing twice.
  package internal(set) var microseconds = 0

  package init() {}

  subscript(metric: Metric) -> Int { all[metric, default: 0] }

  /// Counts statements or rows of a table, whose name is in uppercase.
  mutating func count(_ metric: Metric, _ amount: Int = 1, table: String?) {
    all[metric, default: 0] += amount
    if let table { byTable[table, default: [:]][metric, default: 0] += amount }
  }

  /// Counts object faults of an entity, or of a SELECT's table if the log hides the entity.
  mutating func count(
    _ metric: Metric, _ amount: Int = 1, entity: String?, table: String? = nil
  ) {
    all[metric, default: 0] += amount
    guard let entity else {
      hiddenFaults[table ?? "", default: [:]][metric, default: 0] += amount
      return
    }
    guard LogCosts.hasRoom(byEntity, for: entity) else {
      otherEntities[metric, default: 0] += amount
      return
    }
    byEntity[entity, default: [:]][metric, default: 0] += amount
  }

  mutating func count(_ metric: Metric, _ amount: Int = 1, relationship: String?) {
    all[metric, default: 0] += amount
    guard let relationship else {
      hiddenRelationships[metric, default: 0] += amount
      return
    }
    guard LogCosts.hasRoom(byRelationship, for: relationship) else {
      otherRelationships[metric, default: 0] += amount
      return
    }
    byRelationship[relationship, default: [:]][metric, default: 0] += amount
  }

  /// The number of tables, entities, and relationships with counts.
  var subjects: Int {
    byTable.count + byEntity.count + byRelationship.count + hiddenFaults.count
  }

  /// Removes all counts except the totals.
  mutating func removeSubjects() {
    (byTable, byEntity, byRelationship) = ([:], [:], [:])
    (otherEntities, otherRelationships) = ([:], [:])
    (hiddenFaults, hiddenRelationships) = ([:], [:])
  }

  /// Returns whether there are counts of a name, or more can be added.
  private static func hasRoom(_ counts: [String: [Metric: Int]], for name: String) -> Bool {
    counts.count < InputLimits.logSubjects || counts[name] != nil
  }
}

extension LogCosts {
  /// Returns the count of a metric.
  ///
  /// `faults` is the sum of hits and misses.
  package func value(of metric: Metric) -> Int {
    metric == .faults ? self[.hits] + self[.misses] : self[metric]
  }

  /// Returns the count of a metric in a scope.
  ///
  /// - Parameters:
  ///   - scoped: The metric and its scope.
  ///   - table: A closure that returns the table of an entity, or `nil` if it's unknown.
  package func value(of scoped: ScopedMetric, table: (String) -> String?) -> Int {
    if case .entity(let name) = scoped.scope {
      let rows = table(name).flatMap { byTable[$0.uppercased()] }
      return number(scoped.metric, in: byEntity[name], or: rows)
    }
    if case .relationship(let entity, let name) = scoped.scope {
      let key = scoped.metric == .prefetches ? name : "\(entity).\(name)"
      return number(scoped.metric, in: byRelationship[key])
    }
    return value(of: scoped.metric)
  }

  func number(
    _ metric: Metric, in first: [Metric: Int]?, or second: [Metric: Int]? = nil
  ) -> Int {
    func one(_ metric: Metric) -> Int {
      first?[metric] ?? second?[metric] ?? 0
    }
    return metric == .faults ? one(.hits) + one(.misses) : one(metric)
  }
}

extension Metric {
  /// Returns whether a log contains the metric.
  ///
  /// - Parameter hits: Whether the log contains row-cache hits, as OpenCoreData's log can.
  package func isAvailableInLogs(withHits hits: Bool) -> Bool {
    let available: Set<Metric> = [
      .fetches, .saves, .selects, .inserts, .updates, .deletes, .transactions, .rows, .misses,
      .prefetches,
    ]
    return available.contains(self) || hits && (self == .faults || self == .hits)
  }
}
