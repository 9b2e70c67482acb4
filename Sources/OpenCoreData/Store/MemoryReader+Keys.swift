import ManagedModel

// Keys that there are not are an error, as in SQL, whatever rows there are to ask.

extension MemoryReader {
  /// Looks up the keys that a fetch compares and sorts by, up to an operator such as `@count`.
  ///
  /// - Throws: 134060 that names the first that its entity does not store.
  func checkKeys(of plan: FetchPlan) throws {
    for path in plan.predicate?.ownKeyPaths ?? [] { try check(path, plan.entity) }
    // Dictionaries are sorted by what they hold too.
    guard plan.dictionary == nil else { return }
    for key in plan.sort.compactMap(\.key) { try check(PredicateKeyPath(key), plan.entity) }
  }

  private func check(_ path: PredicateKeyPath, _ start: NSEntityDescription) throws {
    var entity = start
    for key in path.keys where key != "self" && key != "SELF" {
      guard let property = entity.propertiesByName[key] else {
        if key == "objectID" || key == "entity" { return }
        throw unknown(key, of: entity.name)
      }
      guard !property.isTransient, !(property is NSFetchedPropertyDescription) else {
        throw unknown(key, of: entity.name)
      }
      guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else {
        return
      }
      entity = destination
    }
  }

  /// Says which key was asked of a row that there is not: a block's, or one inside of a subquery.
  func checkUnknownKey() throws {
    if let unknownKey { throw unknown(unknownKey.key, of: unknownKey.entity) }
  }

  private func unknown(_ key: String, of entity: String?) -> NSError {
    NSError.fetch("The entity '\(entity ?? "")' has no persistent property '\(key)'.")
  }
}
