import ManagedModel
import ProfileEvents

// Fetches over several stores: each is queried once, and the results are merged in order. A fetch
// from one in-memory store works like this too if it sorts by a transient property, which only
// objects have.

extension NSManagedObjectContext {
  /// Returns the only store that a fetch must query; `nil` if there are several, or none that it
  /// can query.
  ///
  /// - Throws: 134030 if the coordinator has no store.
  final func onlyStore(of plan: FetchPlan) throws -> RowStore? {
    if plan.affectedStores == nil, let coordinator, !coordinator.hasSeveralStores {
      guard let firstStore else { throw NSError.noStore() }
      return firstStore
    }
    let stores = try stores(of: plan)
    return stores.count == 1 ? stores[0] : nil
  }

  private func stores(of plan: FetchPlan) throws -> [RowStore] {
    guard !requiredCoordinator.persistentStores.isEmpty else { throw NSError.noStore() }
    let candidates = requiredCoordinator.stores(containing: plan.layout)
    guard let asked = plan.affectedStores else { return candidates }
    return candidates.filter { store in asked.contains { $0 === store } }
  }

  /// The rows of one store, and what they were read from.
  private struct Part {
    let plan: FetchPlan
    let store: RowStore
    let reader: any StoreReader
    var rows: [FetchedRow]
  }

  /// Returns each store's matches, ordered across all stores, with offset and limit applied.
  ///
  /// The caller owns the rows in the parts.
  private func parts(
    of plan: FetchPlan
  ) throws -> (parts: [Part], order: [(part: Int, row: Int)]) {
    var parts: [Part] = []
    do {
      for store in try stores(of: plan) {
        var asked = plan.at(store)
        asked.offset = 0
        if plan.isSortedByObjects(of: store) {
          // The remaining plan determines whether keys are known; any of the rows may be needed.
          asked.sort.removeAll(where: plan.isTransient)
          asked.limit = 0
        } else {
          // Any row up to this limit may be needed.
          asked.limit = plan.firstRows()
        }
        parts.append(
          try read(store) {
            Part(plan: asked, store: store, reader: $0, rows: try $0.rows(asked, in: scope))
          })
      }
    } catch {
      for row in parts.flatMap(\.rows) { row.row.release() }
      throw error
    }
    var order: [(part: Int, row: Int)] = []
    for (number, part) in parts.enumerated() {
      order += part.rows.indices.map { (number, $0) }
    }
    if !plan.sort.isEmpty {
      let records = order.map {
        FetchedRecord(source: $0, row: parts[$0.part].rows[$0.row], context: self)
      }
      do {
        order = try records.ordered(by: plan.sort).map(\.source)
      } catch {
        for row in parts.flatMap(\.rows) { row.row.release() }
        throw NSError.unsortable(plan.sort, error)
      }
    }
    let skipped = order.dropFirst(plan.offset)
    let kept = Array(plan.limit > 0 ? skipped.prefix(plan.limit) : skipped)
    // Must come first, because it changes the parts.
    let sources = select(kept, from: &parts)
    return (parts, sources)
  }

  /// Releases the rows that aren't needed, and returns the new indexes of the others.
  private func select(
    _ kept: [(part: Int, row: Int)], from parts: inout [Part]
  ) -> [(part: Int, row: Int)] {
    var wanted = parts.map { [Int?](repeating: nil, count: $0.rows.count) }
    for source in kept { wanted[source.part][source.row] = -1 }
    for (number, part) in parts.enumerated() {
      var rows: [FetchedRow] = []
      for (index, row) in part.rows.enumerated() {
        guard wanted[number][index] != nil else {
          row.row.release()
          continue
        }
        wanted[number][index] = rows.count
        rows.append(row)
      }
      parts[number].rows = rows
    }
    return kept.map { ($0.part, wanted[$0.part][$0.row] ?? 0) }
  }

  /// Returns objects of several stores, or of one whose rows don't determine the order.
  final func fetchAcross(_ plan: FetchPlan) throws -> [NSManagedObject] {
    try fetching(plan) {
      sweepBeforeLoad()
      let (parts, order) = try parts(of: plan)
      let found = parts.map { part -> [NSManagedObject] in
        if plan.includesPropertyValues {
          return makeObjects(part.rows, from: part.reader, part.plan)
        }
        defer { for row in part.rows { row.row.release() } }
        return register(part.rows.map(\.identity), from: part.store)
      }
      let objects = try overlay(plan, on: order.map { found[$0.part][$0.row] })
      for (part, found) in zip(parts, found) {
        try prefetch(part.plan.prefetchPaths, from: found, of: plan.entity, in: part.store)
      }
      return (objects, objects.count)
    }
  }

  /// Returns the IDs of objects of several stores, or of one whose rows don't determine the order.
  ///
  /// The rows are read even without property values: they determine the order across the stores.
  final func fetchIDsAcross(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
    try fetching(plan) {
      let (parts, order) = try parts(of: plan)
      let found = parts.map { part -> [NSManagedObjectID] in
        let store = part.store
        if plan.includesPropertyValues {
          part.reader.cache(part.rows)
          return part.rows.map {
            NSManagedObjectID(owning: $0.layout, primaryKey: $0.primaryKey, store: store)
          }
        }
        defer { for row in part.rows { row.row.release() } }
        return part.rows.map {
          NSManagedObjectID(layout: $0.layout, primaryKey: $0.primaryKey, store: store)
        }
      }
      return (order.map { found[$0.part][$0.row] }, order.count)
    }
  }

  /// Returns the dictionaries of several stores.
  final func fetchDictionariesAcross(_ plan: FetchPlan) throws -> [[String: Any]] {
    guard let dictionary = plan.dictionary else { return [] }
    let names = Set(dictionary.columns.map(\.name))
    let foreign = plan.sort.compactMap(\.key).first { !names.contains($0) }
    guard !dictionary.isAggregated, foreign == nil else {
      throw NSError.fetch(
        "Several stores contain '\(plan.entityName)': "
          + (foreign.map { "their dictionaries are sorted by their values, not by '\($0)'" }
            ?? "each computes its own groups and sums")
          + ". Select one store with affectedStores.")
    }
    return try fetching(plan) {
      var found: [[String: Any]] = []
      for store in try stores(of: plan) {
        var asked = plan.at(store)
        asked.limit = plan.firstRows()
        asked.offset = 0
        found += try read(store) { try $0.dictionaries(asked, dictionary, in: scope) }
      }
      if dictionary.isDistinct {
        var seen: Set<NSDictionary> = []
        found = found.filter { seen.insert(NSDictionary(dictionary: $0)).inserted }
      }
      if !plan.sort.isEmpty { found = dictionary.sorted(found, by: plan.sort) }
      let skipped = found.dropFirst(plan.offset)
      let kept = Array(plan.limit > 0 ? skipped.prefix(plan.limit) : skipped)
      return (kept, kept.count)
    }
  }

  /// Returns the number of matches in several stores.
  final func countAcross(_ plan: FetchPlan) throws -> Int {
    if plan.dictionary != nil { return try fetchDictionariesAcross(plan).count }
    return try fetching(plan) {
      var total = 0
      for store in try stores(of: plan) {
        var asked = plan.at(store)
        asked.limit = plan.firstRows()
        asked.offset = 0
        total += try read(store) { try $0.count(asked, in: scope) }
      }
      let left = max(0, total - plan.offset)
      let count = plan.limit > 0 ? min(left, plan.limit) : left
      return (count, count)
    }
  }

  /// Loads a batch of a fetch whose rows are in several stores: one SELECT for each.
  ///
  /// - Parameter visit: Receives the objects of each store, which must not be retained elsewhere.
  final func loadAcross(
    _ keys: ArraySlice<FetchedIdentity>, _ plan: FetchPlan,
    _ visit: ([NSManagedObject]) -> Void
  ) throws {
    let byStore = Dictionary(grouping: keys.filter { $0.primaryKey > 0 }) { $0.layout.storeIndex }
    for (storeIndex, keys) in byStore.sorted(by: { $0.key < $1.key }) {
      guard let store = store(at: storeIndex) else { continue }
      let asked = plan.at(store)
      try read(store) { reader in
        let rows = try reader.rows(
          ContiguousArray(keys.map(\.primaryKey)), of: asked.layout, batchSize: plan.batchSize,
          in: scope)
        let page = makeObservedObjects(rows, from: reader, asked)
        visit(page)
        try prefetch(asked.prefetchPaths, from: page, of: plan.entity, in: store)
      }
    }
  }
}

/// A row as sort descriptors read it.
///
/// Stored attributes are read from the row; transient ones, and key paths across relationships,
/// from the context's objects.
private final class FetchedRecord: KeyValueReadable, ManagedObjectReference {
  let source: (part: Int, row: Int)
  private let fetched: FetchedRow
  private let context: NSManagedObjectContext

  var referenceIdentity: AnyHashable {
    AnyHashable(context.registered(fetched.layout, fetched.primaryKey).objectID)
  }
  var hasStableIdentity: Bool { true }
  var positionByID: UInt64 { NSManagedObjectID.positionByID(of: fetched.primaryKey) }

  init(source: (part: Int, row: Int), row: FetchedRow, context: NSManagedObjectContext) {
    self.source = source
    fetched = row
    self.context = context
  }

  func value(forKey key: String) -> Any? {
    let layout = fetched.layout
    guard case .slot(let index)? = layout.position(of: key) else {
      return context.registered(layout, fetched.primaryKey).storedValue(forKey: key)
    }
    let slot = layout.slots[index]
    guard slot.kind.isToOne else { return layout.value(slot, in: fetched.row) }
    guard !fetched.row.isNull(slot) else { return nil }
    return context.object(
      primaryKey: fetched.row.int64(slot), of: slot.relationship,
      entityNumber: slot.kind == .toOnePolymorphic ? fetched.row.entityNumber(slot) : 0,
      owner: layout)
  }
}

// The stores that objects are assigned to.

extension NSManagedObjectContext {
  /// Specifies the store that a new object will be saved to.
  ///
  /// By default, that's the first writable store that contains its entity. Related objects must be
  /// in the same store: assign them all before saving. No statements. It's a programmer error to
  /// pass an object that was saved or has a permanent ID, a store of another coordinator, or one
  /// whose configuration lacks the entity.
  public final func assign(_ object: Any, to store: NSPersistentStore) {
    guard let object = object as? NSManagedObject, object.context === self, object.isInserted else {
      fatalError("only a new object of this context is assigned to a store")
    }
    guard let store = requiredCoordinator.rowStores.first(where: { $0 === store }) else {
      fatalError("the store belongs to another coordinator")
    }
    guard store.layouts.contains(object.layout) else {
      fatalError(
        "the store's configuration '\(store.configurationName)' doesn't have the entity "
          + "'\(object.layout.entityName)'")
    }
    guard store.storeIndex != object.layout.storeIndex else { return }
    guard object.primaryKey <= 0 else {
      fatalError("\(object.objectID) has its permanent ID, which determines its store")
    }
    registry.remove(object)
    move(object, to: store)
    registry.add(object)
  }

  /// Assigns a store to a new object that isn't registered yet, if there are several.
  final func assignStore(to object: NSManagedObject) {
    // Without a store it keeps its layout; saving reports the error.
    guard let store = try? requiredCoordinator.homeStore(of: object.layout) else { return }
    move(object, to: store)
  }

  /// Reassigns new objects that their stores can't contain: another store may have been added
  /// later.
  ///
  /// - Throws: 134030 for an object that no store can contain.
  final func assignUnassignedObjects() throws {
    for object in changes.inserted.array where object.primaryKey <= 0 && !object.isDeleted {
      if let store = store(at: object.layout.storeIndex), store.layouts.contains(object.layout) {
        continue
      }
      let home = try requiredCoordinator.homeStore(of: object.layout)
      registry.remove(object)
      move(object, to: home)
      registry.add(object)
    }
  }

  /// Returns the new object with a temporary key that was assigned to another store since its ID
  /// was created; `nil` if there's none.
  final func reassigned(_ layout: EntityLayout, _ key: Int64) -> NSManagedObject? {
    guard key < 0, coordinator?.hasSeveralStores == true else { return nil }
    for storeIndex in 0..<reads.storeCount {
      let rootIndex = layout.at(storeIndex).rootIndex
      if let object = registry.object(rootIndex: rootIndex, key: key) { return object }
    }
    return nil
  }

  private func move(_ object: NSManagedObject, to store: RowStore) {
    makeRoom(for: store.storeIndex)
    object.move(to: object.layout.at(store.storeIndex))
  }

  /// Checks that all destinations of changed objects are in the objects' own stores.
  ///
  /// - Throws: 134030 for the first that isn't, as Core Data does at save.
  final func checkStores(of objects: [NSManagedObject]) throws {
    for object in objects {
      guard let values = object.values else { continue }
      for slot in object.layout.slots where slot.kind.isToOne && values.isChanged(slot.index) {
        guard case .object(let other) = values[slot.index] else { continue }
        guard other.layout.storeIndex == object.layout.storeIndex else {
          throw NSError.crossStore(slot.name, of: object, to: other)
        }
      }
      for (index, relationship) in object.layout.toMany.enumerated() where !relationship.isTransient
      {
        let position = object.layout.valueIndex(.toMany(index))
        guard case .toMany(let value) = values[position], value.hasChanges else { continue }
        for other in value.added where other.layout.storeIndex != object.layout.storeIndex {
          throw NSError.crossStore(relationship.name, of: object, to: other)
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Switches to the layout of another store, which has the same slots.
  fileprivate final func move(to layout: EntityLayout) {
    guard layout !== self.layout else { return }
    if row.base == self.layout.defaultRow.base {
      row = layout.defaultRow
    } else {
      let old = row
      var builder = RowBuilder(layout: layout)
      builder.copy(old)
      row = builder.finish(version: old.version)
      old.release()
    }
    self.layout = layout
  }
}

extension SavePlan {
  /// Returns the objects of one store, in the order of this plan.
  private func part(at storeIndex: Int) -> SavePlan {
    func here(_ objects: [NSManagedObject]) -> [NSManagedObject] {
      objects.filter { $0.layout.storeIndex == storeIndex }
    }
    return SavePlan(
      inserted: here(inserted), updated: here(updated), deleted: here(deleted),
      locked: here(locked))
  }

  /// The plan of each store, in the order of the stores' indexes.
  var parts: [(storeIndex: Int, plan: SavePlan)] {
    let storeIndexes = Set((written + deleted + locked).map(\.layout.storeIndex))
    return storeIndexes.sorted().map { ($0, part(at: $0)) }
  }
}
