import ManagedModel

/// Reads a snapshot of an in-memory store.
final class MemoryReader: StoreReader {
  let store: CachingStore
  let commit: UInt64
  let tables: MemoryTables
  /// The first key that was read from a row that doesn't have it.
  var unknownKey: (key: String, entity: String)?

  init(store: CachingStore, tables: MemoryTables, commit: UInt64) {
    self.store = store
    self.tables = tables
    self.commit = commit
  }

  var generation: StoreGeneration? { nil }

  var isFresh: Bool {
    store.commitNumber == commit
  }

  func end() {}

  func rows(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedRow] {
    try matches(plan).map(\.fetched)
  }

  func identities(_ plan: FetchPlan, in scope: ProfileScope) throws -> [FetchedIdentity] {
    try matches(plan).map(\.identity)
  }

  func count(_ plan: FetchPlan, in scope: ProfileScope) throws -> Int {
    if let dictionary = plan.dictionary {
      return try dictionaries(plan, dictionary, in: scope).count
    }
    var counted = plan
    // The order doesn't affect the number. If it determines which rows are within the limits, its
    // keys must be known, as in SQL.
    let isLimited = plan.limit > 0 || plan.offset > 0
    counted.sort.removeAll { !isLimited || plan.isTransient($0) }
    return try matches(counted).count
  }

  func row(_ layout: EntityLayout, _ key: Int64, in scope: ProfileScope) throws -> FetchedRow? {
    tables.row(layout.rootIndex, key)?.fetched
  }

  func rows(
    _ keys: ContiguousArray<Int64>, of layout: EntityLayout, batchSize: Int?, in scope: ProfileScope
  ) throws -> [FetchedRow] {
    Set(keys).sorted().compactMap { tables.row(layout.rootIndex, $0)?.fetched }
  }

  func destinations(
    of relationship: NSRelationshipDescription, _ owner: FetchedIdentity, in scope: ProfileScope
  ) throws -> [FetchedIdentity] {
    let key = ToManyKey(
      rootIndex: owner.layout.rootIndex, primaryKey: owner.primaryKey,
      relationship: relationship.name)
    // Like a join, this excludes a destination that was deleted before it was added.
    return (tables.links[key]?.list ?? []).filter {
      tables.row($0.layout.rootIndex, $0.primaryKey) != nil
    }
  }

  func linkedRows(
    of relationship: NSRelationshipDescription, _ owners: [FetchedIdentity],
    in scope: ProfileScope, links: inout [Int64: [FetchedIdentity]]
  ) throws -> [FetchedRow] {
    var rows: [FetchedRow] = []
    var seen: Set<Int64> = []
    for owner in owners {
      let found = try destinations(of: relationship, owner, in: scope)
      links[owner.primaryKey] = found
      for identity in found where seen.insert(identity.primaryKey).inserted {
        if let row = tables.row(identity.layout.rootIndex, identity.primaryKey) {
          rows.append(row.fetched)
        }
      }
    }
    return rows
  }

  /// Returns a descriptor for the order keys of the inverse's list, for a to-one with an ordered
  /// inverse.
  private func orderedByIndex(_ descriptor: NSSortDescriptor, _ plan: FetchPlan) -> NSSortDescriptor
  {
    guard let key = descriptor.key,
      plan.entity.relationshipsByName[key]?.inverseRelationship?.isOrdered == true
    else { return descriptor }
    return NSSortDescriptor(key: MemoryRecord.orderKeyPrefix + key, ascending: descriptor.ascending)
  }

  /// Returns the matching rows, in the fetch's order; by key if it has none.
  private func matches(_ plan: FetchPlan) throws -> [MemoryRow] {
    var records = try records(plan)
    if !plan.sort.isEmpty {
      do {
        records = try records.ordered(by: plan.sort.map { orderedByIndex($0, plan) })
      } catch {
        throw NSError.unsortable(plan.sort, error)
      }
    }
    try checkUnknownKey()
    let skipped = records.dropFirst(plan.offset)
    return (plan.limit > 0 ? skipped.prefix(plan.limit) : skipped).map(\.row)
  }

  /// Returns the records that satisfy a fetch's predicate, by key.
  func records(_ plan: FetchPlan) throws -> [MemoryRecord] {
    unknownKey = nil
    try checkKeys(of: plan)
    let rows = tables.rows[plan.layout.rootIndex].values
      .filter { plan.covers($0.layout) }
      .sorted { $0.primaryKey < $1.primaryKey }
    var records = rows.map { MemoryRecord($0, self) }
    if let predicate = plan.predicate {
      do {
        records = try records.filter { try predicate.evaluation(ofRecord: $0) }
      } catch {
        throw NSError.unanswerable(predicate, error)
      }
    }
    return records
  }
}

// Unknown keys are an error, as in SQL, even if there are no rows.

extension MemoryReader {
  /// Checks the keys that a fetch compares, returns in dictionaries, and sorts by.
  ///
  /// Those of predicates and dictionaries are checked up to an operator such as `@count`.
  /// - Throws: 134060 with the first key that its entity doesn't store, for an order by a to-many
  ///   relationship, values across one, or a sum of values that aren't numbers, and for a to-many
  ///   relationship as a value of a dictionary.
  func checkKeys(of plan: FetchPlan) throws {
    for path in plan.predicate?.ownKeyPaths ?? [] { try check(path, plan.entity) }
    if let dictionary = plan.dictionary { try checkKeys(of: dictionary, plan.entity) }
    for key in plan.sort.compactMap(\.key)
    where plan.dictionary?.computedColumn(named: key) == nil {
      let path = PredicateKeyPath(key)
      let last = try check(path, plan.entity)
      try checkOperator(of: path, after: last, plan.entity)
      guard path.leadsToMany(from: plan.entity) else { continue }
      throw NSError.fetch("A to-many relationship, such as '\(key)', can't be a sort key.")
    }
  }

  /// Checks that the operator of a sort key can be applied, and the keys after it.
  ///
  /// - Parameters:
  ///   - last: The last property before the operator.
  ///   - entity: The entity at which the path begins.
  private func checkOperator(
    of path: PredicateKeyPath, after last: NSPropertyDescription?, _ entity: NSEntityDescription
  ) throws {
    guard let (operation, rest) = path.collectionOperator else { return }
    func storedType(_ property: NSPropertyDescription?) -> StoredType? {
      (property as? NSAttributeDescription).map { StoredType($0.attributeType) }
    }
    // What a transformable value contains isn't known.
    let hasElements =
      storedType(last).map { $0 == .transformable } ?? path.crossesToMany(from: entity)
    guard hasElements else {
      throw NSError.fetch(
        "'\(path.text)': \(operation.rawValue) can follow only a to-many relationship.")
    }
    guard let destination = (last as? NSRelationshipDescription)?.destinationEntity, !rest.isEmpty
    else { return }
    let names = path.text.split(separator: ".", omittingEmptySubsequences: false)
    let value = PredicateKeyPath(names.suffix(rest.count).joined(separator: "."))
    let found = try check(value, destination)
    // A key after an attribute is a property of its value, such as the length of a string.
    guard operation == .sum || operation == .average, value.keys.last == found?.name,
      let type = storedType(found), type != .transformable, !type.isNumber || type == .timestamp
    else { return }
    throw NSError.fetch(
      "'\(path.text)': \(value.text) isn't a number, so it has no \(operation.rawValue).")
  }

  private func checkKeys(of dictionary: DictionaryPlan, _ entity: NSEntityDescription) throws {
    for column in dictionary.columns + dictionary.groups {
      for path in column.expression.ownKeyPaths { try check(path, entity) }
      guard case .keyPath(let path) = column.expression.node, path.leadsToMany(from: entity)
      else { continue }
      throw NSError.fetch(
        "A dictionary can't contain the values of a to-many relationship, such as '\(path.text)'. "
          + "Count its objects, as in tags.@count, or use another function.")
    }
    for path in dictionary.having?.ownKeyPaths ?? []
    where path.onlyKey.flatMap(dictionary.computedColumn(named:)) == nil {
      try check(path, entity)
    }
  }

  /// Returns the last property of a path, up to an attribute; `nil` if there's none.
  @discardableResult
  private func check(
    _ path: PredicateKeyPath, _ start: NSEntityDescription
  ) throws -> NSPropertyDescription? {
    var entity = start
    var last: NSPropertyDescription?
    for (index, key) in path.keys.enumerated() where key != "self" && key != "SELF" {
      guard let property = entity.propertiesByName[key] else {
        if key == "objectID" || key == "entity" { return nil }
        throw unknown(key, of: entity.name)
      }
      guard !property.isTransient, !(property is NSFetchedPropertyDescription) else {
        throw unknown(key, of: entity.name)
      }
      if let composite = property as? NSCompositeAttributeDescription {
        let element = path.keys[index...].joined(separator: ".")
        guard composite.hasElement(element) else { throw unknown(element, of: entity.name) }
      }
      guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else {
        return property
      }
      (entity, last) = (destination, property)
    }
    return last
  }

  /// Throws for a key that a row doesn't have: in a block predicate, or inside of a subquery.
  func checkUnknownKey() throws {
    if let unknownKey { throw unknown(unknownKey.key, of: unknownKey.entity) }
  }

  private func unknown(_ key: String, of entity: String?) -> NSError {
    NSError.fetch("The entity '\(entity ?? "")' has no persistent property '\(key)'.")
  }
}

extension PredicateKeyPath {
  /// Returns whether the path crosses or ends at a to-many relationship, without an operator.
  fileprivate func leadsToMany(from start: NSEntityDescription) -> Bool {
    keys.count == components.count && crossesToMany(from: start)
  }

  /// Returns whether the path, up to an operator, crosses or ends at a to-many relationship.
  fileprivate func crossesToMany(from start: NSEntityDescription) -> Bool {
    var entity: NSEntityDescription? = start
    for key in keys where key != "self" && key != "SELF" {
      guard let relationship = entity?.relationshipsByName[key] else { return false }
      if relationship.isToMany { return true }
      entity = relationship.destinationEntity
    }
    return false
  }
}

extension NSCompositeAttributeDescription {
  /// Returns whether a path that begins with the attribute's name refers to one of its elements, or
  /// continues past one.
  fileprivate func hasElement(_ path: String) -> Bool {
    path == name
      || leaves.contains { leaf in
        leaf.name == path || leaf.name.hasPrefix(path + ".") || path.hasPrefix(leaf.name + ".")
      }
  }
}

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
      // Before sorting, as in SQL: the first row has a value that isn't in the dictionaries.
      if dictionary.isDistinct {
        var seen: Set<[PredicateValue]> = []
        groups = groups.filter { seen.insert($0.values).inserted }
      }
      if !plan.sort.isEmpty { groups = try groups.ordered(by: plan.sort) }
      try checkUnknownKey()
      let skipped = groups.dropFirst(plan.offset)
      return (plan.limit > 0 ? skipped.prefix(plan.limit) : skipped).map(\.entries)
    } catch let error as PredicateEvaluationError {
      throw NSError.fetch("The dictionaries can't be created: \(error).")
    }
  }

  /// Returns the rows that each dictionary represents.
  private func rowGroups(
    _ records: [MemoryRecord], _ dictionary: DictionaryPlan
  ) throws -> [[MemoryRecord]] {
    guard dictionary.isAggregated else { return records.map { [$0] } }
    guard !dictionary.groups.isEmpty else { return [records] }
    var groups: [[MemoryRecord]] = []
    var positions: [[PredicateValue]: Int] = [:]
    for record in records {
      let key = try dictionary.groups.map { try $0.expression.value(for: record) }
      if let position = positions[key] {
        groups[position].append(record)
      } else {
        positions[key] = groups.count
        groups.append([record])
      }
    }
    return groups
  }
}
