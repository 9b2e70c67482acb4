import ManagedModel
import ProfileEvents

/// A fetch request, read once: the entity is found, the options are plain values.
struct FetchPlan {
  var layout: EntityLayout
  let entity: NSEntityDescription
  let predicate: NSPredicate?
  var sort: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  var batchSize: Int
  let includesSubentities: Bool
  let includesPendingChanges: Bool
  var includesPropertyValues: Bool
  let returnsObjectsAsFaults: Bool
  let refreshes: Bool
  var prefetchPaths: [String]
  /// What dictionaries hold, nil for other results.
  let dictionary: DictionaryPlan?
  /// The stores that are asked; nil is all.
  let affectedStores: [NSPersistentStore]?
  /// Told now and then how many rows have been read; for an asynchronous fetch.
  var rowsRead: ((Int) -> Void)?

  /// Whether an object of that layout is among those the request asks for.
  func covers(_ candidate: EntityLayout) -> Bool {
    guard
      candidate.modelIndex == layout.modelIndex
        || (includesSubentities && candidate.entity.isKind(of: entity))
    else { return false }
    guard let affectedStores else { return true }
    return affectedStores.contains { ($0 as? CachingStore)?.place == candidate.place }
  }

  /// The same, for the rows of one of several stores.
  func at(_ store: CachingStore) -> FetchPlan {
    guard store.place != layout.place else { return self }
    var plan = self
    plan.layout = layout.at(store.place)
    return plan
  }

  /// Whether a store leaves the order to the objects: one in memory whose rows are to be sorted by a
  /// transient property, which no row has.
  func isSortedByObjects(of store: CachingStore) -> Bool {
    !sort.isEmpty && store is MemoryStore && sort.contains(where: isTransient)
  }

  /// Whether a descriptor's key path leads over to-ones to a transient attribute.
  func isTransient(_ descriptor: NSSortDescriptor) -> Bool {
    guard var names = descriptor.key?.split(separator: ".").map(String.init),
      let last = names.popLast()
    else { return false }
    var entity: NSEntityDescription? = entity
    for name in names {
      let relationship = entity?.relationshipsByName[name]
      let leadsToOne = relationship.map { !$0.isToMany && !$0.isTransient } ?? false
      entity = leadsToOne ? relationship?.destinationEntity : nil
    }
    return entity?.attributesByName[last]?.isTransient == true
  }

}

extension PredicateValue {
  /// The value as a dictionary of a fetch holds it, nil for nil.
  ///
  /// Numbers are `NSNumber`s, as Apple's, which cast to every Swift number type that holds them.
  ///
  /// - Parameter type: The type asked for, nil for the value's own.
  func dictionaryValue(_ type: NSAttributeType?) -> Any? {
    guard let type else { return boxed }
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return whole.map { NSNumber(value: $0) } ?? boxed
    case .booleanAttributeType: return whole.map { NSNumber(value: $0 != 0) } ?? boxed
    case .doubleAttributeType, .floatAttributeType:
      return asNumber.nearestDouble.map { NSNumber(value: $0) } ?? boxed
    case .decimalAttributeType:
      return asNumber.decimal.map { NSDecimalNumber(decimal: $0) } ?? boxed
    case .stringAttributeType: return CastTarget.string.cast(self)?.boxed ?? boxed
    case .dateAttributeType: return CastTarget.date.cast(self)?.boxed ?? boxed
    case .UUIDAttributeType: return CastTarget.uuid.cast(self)?.boxed ?? boxed
    case .URIAttributeType: return CastTarget.url.cast(self)?.boxed ?? boxed
    default: return boxed
    }
  }

  /// A date as its number.
  private var asNumber: PredicateValue {
    if case .date = self { return CastTarget.number.cast(self) ?? self }
    return self
  }

  /// The number without what is behind its point.
  private var whole: Int64? {
    let number = asNumber
    return number.exactInteger
      ?? number.nearestDouble.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
  }
}

extension FetchPlan {
  /// What the request asks for, as texts, for a log that prints requests.
  var record: RequestRecord {
    RequestRecord(
      predicate: predicate?.predicateFormat,
      sort: sort.map { descriptor in
        let manner = descriptor.comparison?.rawValue ?? "block"
        let order = descriptor.ascending ? "ascending" : "descending"
        return "(\(descriptor.key ?? "self"), \(order), \(manner))"
      })
  }
}
