import ManagedModel

/// The contents of a results controller: the list, the sections, and the delegate.
///
/// Separate from the controller, which is generic, so that a delegate can be passed another
/// controller with the same results. Used on the context's queue.
final class FetchedResults: @unchecked Sendable {  // used only on the context's queue
  typealias DelegateController = NSFetchedResultsController<any NSFetchRequestResult>

  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?
  weak var delegate: (any NSFetchedResultsControllerDelegate)?
  /// Creates the controller that is passed to the delegate.
  private let makeDelegateController: (FetchedResults) -> DelegateController
  /// Returns the index title of a section, as the controller that was created first does.
  var indexTitle: (_ sectionName: String) -> String? = FetchedResults.initial(of:)
  /// The request of the last `performFetch`.
  private(set) var plan: FetchPlan?
  var list: any FetchedList = RetainedList([])
  /// The results of a request for dictionaries, of the type that it has; `nil` for objects.
  private(set) var dictionaries: [Any]?
  /// In order; a single one with all objects without a section key path.
  var sectionNames: [String] = []
  /// The index of each section's first object, and finally the total count.
  var sectionStarts: [Int] = [0] {
    didSet { edition += 1 }
  }
  /// The cache file that was read or written last; `nil` if the list may differ from the rows, or
  /// depends on objects of whose changes the controller isn't notified.
  private var cache: FetchedResultsCache?
  /// Incremented with each change of the list and its sections.
  private(set) var edition = 0
  private var observers: [any NSObjectProtocol] = []

  init(
    context: NSManagedObjectContext, sectionNameKeyPath: String?, cacheName: String?,
    makeDelegateController: @escaping (FetchedResults) -> DelegateController
  ) {
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
    self.makeDelegateController = makeDelegateController
  }

  deinit {
    for observer in observers { NotificationCenter.default.removeObserver(observer) }
  }

  var isFetched: Bool { plan != nil }

  /// Fetches, builds the sections, and begins to observe the context.
  ///
  /// Dictionaries aren't observed. After an error, the results are those of the last fetch.
  func performFetch<T>(_ request: NSFetchRequest<T>) throws {
    let plan = try FetchPlan(request, model: context.requiredCoordinator.managedObjectModel)
    let last = (list, dictionaries, sectionNames, sectionStarts)
    do {
      if plan.dictionary == nil { try fetch(plan) } else { try fetchDictionaries(plan, as: T.self) }
    } catch {
      (list, dictionaries, sectionNames, sectionStarts) = last
      throw error
    }
  }

  private func fetch(_ plan: FetchPlan) throws {
    dictionaries = nil
    let cache = try cacheName.flatMap { name in
      try FetchedResultsCache(name: name, plan: plan, sectionNameKeyPath, of: context)
    }
    let known = try cache?.read()
    try fetch(plan, known)
    if let known, known.starts.last == list.count {
      (sectionNames, sectionStarts) = (known.names, known.starts)
    } else {
      try arrangeSections { sectionName(of: list.object(at: $0)) }
    }
    self.plan = plan
    follow()
    if !context.changes.eventInserted.isEmpty { context.changes.listsInsertions = true }
    // A cache that can't be written is ignored: the result is complete without it.
    if known == nil { try? cache?.write(self) }
    self.cache = cache?.isSelfContained == true ? cache : nil
  }

  private func fetchDictionaries<T>(_ plan: FetchPlan, as type: T.Type) throws {
    if delegate != nil { FetchedResults.stopFollowingDictionaries() }
    let found = try context.fetchDictionaries(plan)
    let isSwift = T.self == [String: Any].self
    dictionaries = found.map { dictionary -> Any in
      isSwift ? dictionary as Any : NSDictionary(dictionary: dictionary) as Any
    }
    list = RetainedList([])
    try arrangeSections { sectionName(of: found[$0]) }
    self.plan = plan
  }

  /// Stops with a fatal error, because changes of dictionaries can't be reported.
  static func stopFollowingDictionaries() -> Never {
    fatalError(
      "a fetched results controller can't report changes of dictionaries: fetch objects, or don't "
        + "set a delegate")
  }

  private func fetch(_ plan: FetchPlan, _ known: FetchedResultsCache.Content?) throws {
    guard plan.batchSize > 0 else {
      list = RetainedList(try context.fetchObjects(plan))
      return
    }
    if let layouts = try context.onlyStore(of: plan)?.layouts,
      let keys = known?.identities(in: layouts)
    {
      list = BatchedList(keys: keys, unsaved: [], plan: plan, context: context)
      return
    }
    var keysOnly = plan
    keysOnly.includesPropertyValues = false
    let ids = try context.fetchIDs(keysOnly)
    // Those of a parent aren't registered yet. The list follows their keys, which saves change.
    var unsaved = ids.filter(\.isTemporaryID).map { id in
      context.registeredObject(for: id) ?? context.registered(id.layout, id.primaryKey)
    }
    // New objects can have permanent IDs, until their insertion is undone.
    let reserved = context.changes.inserted.array.filter { $0.primaryKey > 0 }
    if !reserved.isEmpty {
      let listed = Set(ids.map { RowKey($0.identity) })
      unsaved += reserved.filter { listed.contains(RowKey($0.identity)) }
    }
    list = BatchedList(
      keys: ids.map { $0.identity }, unsaved: unsaved, plan: plan, context: context)
  }

  /// The number of objects or dictionaries.
  var count: Int { dictionaries?.count ?? list.count }

  /// Returns the object or dictionary at a position.
  func item(at position: Int) -> Any {
    guard let dictionaries else { return list.object(at: position) }
    return dictionaries[position]
  }

  // MARK: Sections

  var sections: [FetchedSection] {
    sectionNames.indices.map { index in
      FetchedSection(
        name: sectionNames[index], indexTitle: title(sectionNames[index]),
        range: sectionStarts[index]..<sectionStarts[index + 1], edition: edition, results: self)
    }
  }

  /// Returns the positions of the objects in a section that was requested at an earlier edition;
  /// empty if there's no longer a section with its name.
  func range(of section: FetchedSection) -> Range<Int> {
    if section.edition == edition { return section.range }
    guard let index = sectionNames.firstIndex(of: section.name) else { return 0..<0 }
    return sectionStarts[index]..<sectionStarts[index + 1]
  }

  /// Returns the position of an index path; it's a programmer error if there's none.
  func position(of path: IndexPath) -> Int {
    guard isFetched else { fatalError("call performFetch() before you access objects") }
    guard
      path.count == 2 && sectionNames.indices.contains(path.section) && path.item >= 0
        && path.item < sectionStarts[path.section + 1] - sectionStarts[path.section]
    else { fatalError("there's no object at \(path)") }
    return sectionStarts[path.section] + path.item
  }

  /// Returns the index path of a position.
  func indexPath(of position: Int) -> IndexPath {
    FetchedResults.path(of: position, starts: sectionStarts)
  }

  static func path(of position: Int, starts: [Int]) -> IndexPath {
    var (low, high) = (0, starts.count - 1)
    while low + 1 < high {
      let middle = (low + high) / 2
      if starts[middle] <= position { low = middle } else { high = middle }
    }
    return IndexPath(item: position - starts[low], section: low)
  }

  /// Returns the name of an object's section, as a string.
  func sectionName(of object: NSManagedObject) -> String {
    guard let sectionNameKeyPath, let value = object.value(forKeyPath: sectionNameKeyPath) else {
      return ""
    }
    return "\(value)"
  }

  /// Returns the name of a dictionary's section; its values are by whole key paths.
  private func sectionName(of dictionary: [String: Any]) -> String {
    guard let sectionNameKeyPath, let value = dictionary[sectionNameKeyPath] else { return "" }
    return "\(value)"
  }

  /// Returns the uppercase first letter of a name; `nil` for an empty one.
  static func initial(of name: String) -> String? {
    name.first.map { $0.uppercased() }
  }

  private func title(_ name: String) -> String? {
    guard let delegate else { return indexTitle(name) }
    return delegate.controller(makeDelegateController(self), sectionIndexTitleForSectionName: name)
  }

  /// Finds the sections.
  ///
  /// - Parameter nameOfSection: Returns the name of a position's section.
  private func arrangeSections(_ nameOfSection: (Int) -> String) throws {
    guard sectionNameKeyPath != nil else {
      (sectionNames, sectionStarts) = ([""], [0, count])
      return
    }
    var (names, starts): ([String], [Int]) = ([], [])
    var seen: Set<String> = []
    for position in 0..<count {
      let name = nameOfSection(position)
      if name == names.last { continue }
      guard seen.insert(name).inserted else {
        throw NSError.fetch(
          "The objects of section '\(name)' aren't contiguous: sort by "
            + "'\(sectionNameKeyPath ?? "")' first, or by a key with the same order.")
      }
      names.append(name)
      starts.append(position)
    }
    (sectionNames, sectionStarts) = (names, starts + [count])
  }

  var snapshot: FetchedResultsSnapshot {
    FetchedResultsSnapshot(
      sectionIdentifiers: sectionNames,
      items: sectionNames.indices.map { index in
        (sectionStarts[index]..<sectionStarts[index + 1]).compactMap {
          (item(at: $0) as? NSManagedObject)?.objectID
        }
      })
  }

  // MARK: Following

  private func follow() {
    guard observers.isEmpty else { return }
    context.addFollower(self)
    observers = [
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [weak self] in self?.contextDidChange($0) },
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { [weak self] in self?.contextDidSave($0) },
    ]
  }

  /// Updates the cache file for the list, unless rows have changed of which the context wasn't
  /// notified; a cache that can't be written is ignored.
  private func contextDidSave(_ notification: Notification) {
    guard let cacheName, let plan, let last = cache, delegate != nil, dictionaries == nil else {
      return
    }
    cache = nil
    guard
      let present = try? FetchedResultsCache(
        name: cacheName, plan: plan, sectionNameKeyPath, of: context),
      present.follows(last, notification)
    else { return }
    try? present.write(self)
    cache = present
  }
}

extension FetchedResults: RowFollower {
  func lists(_ identity: FetchedIdentity) -> Bool {
    delegate != nil && (list as? BatchedList)?.contains(identity) == true
  }
}

// Turns a did-change notification into changes of the list.

extension FetchedResults {
  /// Updates the list and the sections and notifies the delegate.
  func contextDidChange(_ notification: Notification) {
    guard let plan, let delegate, dictionaries == nil else { return cache = nil }
    var change = ListChange(changed(notification, plan), in: self, plan)
    guard !change.isEmpty else { return }
    let controller = makeDelegateController(self)
    let before = edition
    delegate.controllerWillChangeContent(controller)
    if edition != before {
      // The delegate has processed further changes.
      change = ListChange(changed(notification, plan), in: self, plan)
    }
    let (oldNames, oldSections, oldStarts) = (sectionNames, sections, sectionStarts)
    let names = change.sectionNames(of: self)
    let updated = change.updated.map { list.object(at: $0) }
    list.edit(removing: change.removed.map(\.position), inserting: change.inserted)
    (sectionNames, sectionStarts) = names
    notifySectionChanges(delegate, controller, from: oldNames, oldSections)
    change.notify(delegate, controller, updated: updated, from: oldStarts, to: sectionStarts)
    if sectionNameKeyPath == nil, let difference = change.difference {
      delegate.controller(controller, didChangeContentWith: difference)
    }
    delegate.controllerDidChangeContent(controller)
  }

  /// Returns the objects of the request's entity in a notification, each once, in a stable order.
  private func changed(_ notification: Notification, _ plan: FetchPlan) -> [NSManagedObject] {
    let keys = [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey,
    ]
    var all: Set<NSManagedObject> = []
    for key in keys {
      all.formUnion(notification.userInfo?[key] as? Set<NSManagedObject> ?? [])
    }
    // New objects follow in the order of their insertion: temporary keys count down.
    return all.filter { plan.covers($0.layout) }.sorted { first, second in
      let (key, other) = (first.primaryKey, second.primaryKey)
      if key == other { return first.layout.index < second.layout.index }
      return key > 0 && other > 0 ? key < other : key > other
    }
  }

  private func notifySectionChanges(
    _ delegate: any NSFetchedResultsControllerDelegate,
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, from oldNames: [String],
    _ oldSections: [FetchedSection]
  ) {
    guard sectionNameKeyPath != nil else { return }
    let (old, new) = (Set(oldNames), Set(sectionNames))
    for (index, name) in oldNames.enumerated() where !new.contains(name) {
      var section = oldSections[index]
      section.results = nil
      delegate.controller(controller, didChange: section, atSectionIndex: index, for: .delete)
    }
    let sections = sections
    for (index, name) in sectionNames.enumerated() where !old.contains(name) {
      delegate.controller(
        controller, didChange: sections[index], atSectionIndex: index, for: .insert)
    }
  }
}

/// The sections of a controller's results and the object IDs in them, at one moment.
///
/// Apple counterpart: the controller's `NSDiffableDataSourceSnapshot`, which requires UIKit.
public struct FetchedResultsSnapshot: Hashable {
  /// The names of the sections, in order; one empty name without a section key path.
  public let sectionIdentifiers: [String]
  private let items: [[NSManagedObjectID]]

  init(sectionIdentifiers: [String], items: [[NSManagedObjectID]]) {
    self.sectionIdentifiers = sectionIdentifiers
    self.items = items
  }

  /// The IDs of all objects, section by section.
  public var itemIdentifiers: [NSManagedObjectID] {
    items.flatMap { $0 }
  }

  /// Returns the IDs of one section's objects; empty for an unknown section name.
  public func itemIdentifiers(inSection identifier: String) -> [NSManagedObjectID] {
    sectionIdentifiers.firstIndex(of: identifier).map { items[$0] } ?? []
  }

  /// The number of objects.
  public var numberOfItems: Int {
    items.reduce(0) { $0 + $1.count }
  }
}
