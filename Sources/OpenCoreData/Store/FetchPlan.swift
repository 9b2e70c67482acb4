import ManagedModel
import ProfileEvents

/// A fetch request, read once: the entity is resolved, the options are plain values.
struct FetchPlan {
  var layout: EntityLayout
  let entity: NSEntityDescription
  /// The predicate, with the results of its `FETCH` expressions.
  let predicate: NSPredicate?
  /// The predicate before they ran; the same object if there are none.
  let requestedPredicate: NSPredicate?
  var sort: [NSSortDescriptor]
  var limit: Int
  var offset: Int
  /// The offset and the limit to apply after unsaved changes are merged; `nil` if the store applies
  /// those above.
  var window: (offset: Int, limit: Int)?
  var batchSize: Int
  let includesSubentities: Bool
  let includesPendingChanges: Bool
  var includesPropertyValues: Bool
  let returnsObjectsAsFaults: Bool
  let refreshes: Bool
  var prefetchPaths: [String]
  /// Whether objects were requested, not another kind of result.
  let returnsObjects: Bool
  /// What an incremental store does itself; `nil` for other stores.
  var delegated: DelegatedFetch?
  /// The contents of dictionaries; `nil` for other results.
  let dictionary: DictionaryPlan?
  /// The stores to query; `nil` for all.
  let affectedStores: [NSPersistentStore]?
  /// Called occasionally with the number of rows read; for an asynchronous fetch.
  var rowsRead: ((Int) -> Void)?

  /// Returns whether objects of a layout are included in the request.
  func covers(_ candidate: EntityLayout) -> Bool {
    guard
      candidate.modelIndex == layout.modelIndex
        || (includesSubentities && candidate.entity.isKind(of: entity))
    else { return false }
    guard let affectedStores else { return true }
    return affectedStores.contains { ($0 as? CachingStore)?.storeIndex == candidate.storeIndex }
  }

  /// Whether a count of dictionaries needs their SELECT, not that of the rows: a dictionary
  /// represents several rows, or the rows within the limits depend on an order by computed values.
  var countsDictionaries: Bool {
    guard let dictionary else { return false }
    if dictionary.isAggregated || dictionary.isDistinct { return true }
    return (limit > 0 || offset > 0)
      && sort.contains { $0.key.flatMap(dictionary.computedColumn(named:)) != nil }
  }

  /// Returns the number of rows of each store that may be needed for the offset, the limit, and
  /// additional rows; 0 for all.
  func firstRows(and spare: Int = 0) -> Int {
    guard limit > 0 else { return 0 }
    let (sum, isTooMany) = offset.addingReportingOverflow(limit)
    let (total, isMore) = sum.addingReportingOverflow(spare)
    return isTooMany || isMore ? 0 : total
  }

  /// Returns whether a plan with the same offset reads at least as many rows as another one.
  func readsRows(of other: FetchPlan) -> Bool {
    guard offset == other.offset else { return false }
    return limit == 0 || (other.limit > 0 && other.limit <= limit)
  }

  /// Returns the plan for the rows of one of several stores.
  func at(_ store: CachingStore) -> FetchPlan {
    guard store.storeIndex != layout.storeIndex || store.isIncremental else { return self }
    var plan = self
    plan.layout = layout.at(store.storeIndex)
    if store.isIncremental { plan.delegate() }
    return plan
  }

  /// Delegates rows and prefetches to an incremental store, which returns objects or object IDs.
  private mutating func delegate() {
    guard delegated == nil else { return }
    delegated = DelegatedFetch(
      returnsObjects: returnsObjects && includesPropertyValues,
      includesPropertyValues: includesPropertyValues, prefetchPaths: prefetchPaths)
    includesPropertyValues = false
    prefetchPaths = []
  }

  /// Returns whether objects must be sorted instead of rows: in an in-memory store by a transient
  /// property, which rows don't have.
  func isSortedByObjects(of store: CachingStore) -> Bool {
    !sort.isEmpty && store is MemoryStore && sort.contains(where: isTransient)
  }

  /// Returns whether a descriptor's key path ends at a transient attribute, across to-ones.
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

/// The parts of a fetch that an incremental store does itself.
struct DelegatedFetch {
  /// Whether the store returns objects, not object IDs.
  let returnsObjects: Bool
  let includesPropertyValues: Bool
  let prefetchPaths: [String]
}

extension PredicateValue {
  /// Returns the value for a fetch's dictionary; `nil` for `nil`.
  ///
  /// Numbers are `NSNumber`s, as in Core Data, which cast to every Swift number type that can
  /// represent them.
  ///
  /// - Parameter type: The requested type; `nil` for the value's own.
  func dictionaryValue(_ type: NSAttributeType?) -> Any? {
    guard let type else { return boxed }
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return whole.map { NSNumber(value: $0) } ?? boxed
    case .booleanAttributeType: return whole.map { NSNumber(value: $0 != 0) } ?? boxed
    case .doubleAttributeType: return asNumber.nearestDouble.map { NSNumber(value: $0) } ?? boxed
    case .floatAttributeType:
      return asNumber.nearestDouble.map { NSNumber(value: Float($0)) } ?? boxed
    case .decimalAttributeType:
      return asNumber.decimal.map { NSDecimalNumber(decimal: $0) } ?? boxed
    case .stringAttributeType: return CastTarget.string.cast(self)?.boxed ?? boxed
    case .dateAttributeType: return CastTarget.date.cast(self)?.boxed ?? boxed
    case .UUIDAttributeType: return CastTarget.uuid.cast(self)?.boxed ?? boxed
    case .URIAttributeType: return CastTarget.url.cast(self)?.boxed ?? boxed
    default: return boxed
    }
  }

  /// The number of a date.
  private var asNumber: PredicateValue {
    if case .date = self { return CastTarget.number.cast(self) ?? self }
    return self
  }

  /// The number without its fraction.
  private var whole: Int64? { asNumber.truncatedInteger }
}

extension FetchPlan {
  /// The contents of the request as strings, for a log that prints requests.
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
