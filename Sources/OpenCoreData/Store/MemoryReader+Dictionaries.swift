import ManagedModel

extension MemoryReader {
  func dictionaries(
    _ plan: FetchPlan, _ dictionary: DictionaryPlan, in scope: ProfileScope
  ) throws -> [[String: Any]] {
    let records = try records(plan)
    do {
      var groups = try rowGroups(records, dictionary).map {
        try MemoryGroup(rows: $0, dictionary)
      }
      if dictionary.having != nil { groups = try groups.filter { try $0.matches() } }
      if !plan.sort.isEmpty { groups = groups.sorted(using: plan.sort) }
      if dictionary.isDistinct {
        var seen: Set<[PredicateValue]> = []
        groups = groups.filter { seen.insert($0.values).inserted }
      }
      try checkUnknownKey()
      let skipped = groups.dropFirst(plan.offset)
      return (plan.limit > 0 ? skipped.prefix(plan.limit) : skipped).map(\.entries)
    } catch let error as PredicateEvaluationError {
      throw NSError.fetch("The dictionaries cannot be made: \(error).")
    }
  }

  /// The rows that each dictionary stands for.
  private func rowGroups(
    _ records: [MemoryRecord], _ dictionary: DictionaryPlan
  ) throws -> [[MemoryRecord]] {
    guard dictionary.isAggregated else { return records.map { [$0] } }
    guard !dictionary.groups.isEmpty else { return [records] }
    var groups: [[MemoryRecord]] = []
    var places: [[PredicateValue]: Int] = [:]
    for record in records {
      let key = try dictionary.groups.map { try $0.expression.value(for: record) }
      if let place = places[key] {
        groups[place].append(record)
      } else {
        places[key] = groups.count
        groups.append([record])
      }
    }
    return groups
  }
}
