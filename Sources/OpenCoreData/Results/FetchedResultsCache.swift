import ManagedModel
import SQLiteDriver

/// The file of a controller's cache: the order and the sections of the last run.
///
/// It's valid while the request, the results of `FETCH` in its predicate, and the rows that it
/// depends on are unchanged: their number, and the sums of their primary keys and versions, in each
/// table that the request's key paths reach.
/// It's stored in the program's folder in the user's caches folder, readable only by that user.
struct FetchedResultsCache {
  private let file: URL
  private let plan: FetchPlan
  private let layouts: StoreLayouts
  private let source: String
  private let fingerprint: String
  private let fetched: String
  private let signature: [[Int64]]
  /// Whether the results depend on the properties of their own objects only.
  let isSelfContained: Bool

  /// The contents of a file.
  struct Content: Codable {
    /// The store's identifier and the version hash of the entity.
    let source: String
    /// The request.
    let fingerprint: String
    /// The predicate with the results of its `FETCH` expressions; empty if there are none.
    let fetched: String
    /// The signature of the tables' rows.
    let signature: [[Int64]]
    let names: [String]
    let starts: [Int]
    let keys: [Int64]
    /// The entity ID of each key.
    let entities: [Int]

    /// Returns the keys with their layouts; `nil` if an entity is unknown.
    func identities(in layouts: StoreLayouts) -> [FetchedIdentity]? {
      var found: [FetchedIdentity] = []
      for (key, number) in zip(keys, entities) {
        guard let layout = layouts.layout(entityNumber: number) else { return nil }
        found.append(FetchedIdentity(layout: layout, primaryKey: key))
      }
      return found
    }
  }

  /// Creates a cache; `nil` if there's nothing to cache: the store is in memory, there are several,
  /// or unsaved changes of the context or its parents may affect the result.
  ///
  /// **Cost:** one SELECT of three aggregates for each table.
  init?(
    name: String, plan: FetchPlan, _ sectionNameKeyPath: String?,
    of context: NSManagedObjectContext
  ) throws {
    let (dependencies, isSelfContained) = FetchedResultsCache.dependencies(
      of: plan, sectionNameKeyPath)
    guard let store = try context.onlyStore(of: plan) as? SQLiteStore,
      !context.hasUnsavedChanges(in: Set(dependencies.map(\.tableIndex)))
    else { return nil }
    self.isSelfContained = isSelfContained
    file = FetchedResultsCache.file(name)
    self.plan = plan
    layouts = store.layouts
    let sorts = plan.sort.map(\.description).joined(separator: ",")
    source = "\(store.identifier) \(plan.entity.versionHash.base64EncodedString())"
    fingerprint = [
      plan.entityName, plan.requestedPredicate?.formatWithURIs ?? "", sorts,
      "\(plan.limit) \(plan.offset) \(plan.includesSubentities)", sectionNameKeyPath ?? "",
    ].joined(separator: "\u{1F}")
    fetched =
      plan.predicate === plan.requestedPredicate ? "" : plan.predicate?.formatWithURIs ?? ""
    let reached = dependencies.filter { store.layouts.contains($0) }
    let scope = context.scope
    signature = try context.read(store) { reader in
      func read(_ reader: any StoreReader) throws -> [[Int64]] {
        try reached.map { try (reader as? SQLiteReader)?.signature(of: $0, in: scope) ?? [] }
      }
      // That of a pinned context reads through another one.
      guard let generation = reader.generation else { return try read(reader) }
      return try generation.read(read)
    }
  }

  /// Returns the file's contents; `nil` if there's none, it's corrupt, it belongs to another store
  /// or version of the entity, or the rows have changed.
  ///
  /// - Throws: 134060 if the file belongs to another request.
  func read() throws -> Content? {
    guard let data = try? Data(contentsOf: file),
      let content = try? JSONDecoder().decode(Content.self, from: data)
    else { return nil }
    guard content.source == source else { return nil }
    guard content.fingerprint == fingerprint else {
      throw NSError.fetch(
        "The cache '\(file.deletingPathExtension().lastPathComponent)' belongs to another "
          + "request: call NSFetchedResultsController.deleteCache(withName:) before changing a "
          + "request, and use a separate name for each request.")
    }
    let isCurrent =
      content.signature == signature && content.fetched == fetched
      && content.keys.count == content.entities.count
      && content.starts.count == content.names.count + 1
      && content.starts.first == 0 && content.starts.last == content.keys.count
      && content.starts == content.starts.sorted() && content.keys.allSatisfy { $0 > 0 }
      && Set(content.entities).allSatisfy {
        layouts.layout(entityNumber: $0).map(plan.covers) == true
      }
    return isCurrent ? content : nil
  }

  /// Returns whether the rows differ from those of an earlier cache only by what a save wrote.
  ///
  /// As keys aren't reused, and versions increase, no other changes have the same number of rows
  /// and the same sums.
  /// - Parameters:
  ///   - earlier: A self-contained cache of the same request.
  ///   - saved: The did-save notification.
  func follows(_ earlier: FetchedResultsCache, _ saved: Notification) -> Bool {
    guard var expected = earlier.signature.first, expected.count == 3 else { return false }
    let (table, storeIndex) = (plan.layout.tableIndex, layouts.storeIndex)
    func add(_ key: String, rows: Int64, versions: (NSManagedObject) -> Int64) {
      for object in saved.userInfo?[key] as? Set<NSManagedObject> ?? []
      where object.primaryKey > 0 && object.layout.storeIndex == storeIndex
        && object.layout.tableIndex == table
      {
        expected[0] &+= rows
        expected[1] &+= rows &* object.primaryKey
        expected[2] &+= versions(object)
      }
    }
    add(NSInsertedObjectsKey, rows: 1) { $0.row.version }
    add(NSUpdatedObjectsKey, rows: 0) { _ in 1 }
    add(NSDeletedObjectsKey, rows: -1) { 0 &- $0.row.version }
    return [expected] == signature
  }

  /// Rewrites the file.
  func write(_ results: FetchedResults) throws {
    guard let plan = results.plan, let layouts = try results.context.onlyStore(of: plan)?.layouts
    else { return }
    let identities =
      (results.list as? BatchedList)?.identities
      ?? (0..<results.list.count).map { results.list.object(at: $0).identity }
    let content = Content(
      source: source, fingerprint: fingerprint, fetched: fetched, signature: signature,
      names: results.sectionNames, starts: results.sectionStarts,
      keys: identities.map(\.primaryKey),
      entities: identities.map { layouts.entityNumber($0.layout) })
    try FileManager.default.createDirectory(
      at: FetchedResultsCache.folder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let temporary = FetchedResultsCache.folder.appendingPathComponent(".\(UUID().uuidString)")
    let data = try JSONEncoder().encode(content)
    let problem = AtomicFile.write(
      data, to: file.path, through: temporary.path, permissions: 0o600, syncs: false)
    if let problem { throw NSError.file(file.path, "written", problem) }
  }

  /// Removes one cache of the program, or all.
  static func delete(_ name: String?) {
    try? FileManager.default.removeItem(at: name.map(file) ?? folder)
  }

  /// The folder of the program's caches, named after its bundle identifier or else its executable.
  static var folder: URL {
    let caches =
      FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    let program =
      Bundle.main.bundleIdentifier ?? Bundle.main.executableURL?.lastPathComponent ?? "program"
    return caches.appendingPathComponent("OpenCoreData/FetchedResults")
      .appendingPathComponent(escaped(program))
  }

  /// Returns the file of a cache, which is in `folder` whatever its name.
  static func file(_ name: String) -> URL {
    folder.appendingPathComponent("\(escaped(name)).json")
  }

  /// Returns a name as a file name without separators and periods.
  private static func escaped(_ name: String) -> String {
    name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "cache"
  }

  /// Returns the entities whose rows the matches, the order, and the sections depend on: the
  /// request's, and those that its key paths can reach, wherever these begin; and whether no key
  /// path contains a relationship.
  private static func dependencies(
    of plan: FetchPlan, _ sectionNameKeyPath: String?
  ) -> (layouts: [EntityLayout], isSelfContained: Bool) {
    var paths = plan.sort.compactMap(\.key) + [sectionNameKeyPath].compactMap { $0 }
    plan.predicate?.forEachExpression { expression in
      if case .keyPath(let path) = expression.node { paths.append(path.text) }
    }
    let names = paths.flatMap { $0.split(separator: ".").map(String.init) }
    var reached = plan.includesSubentities ? plan.entity.withSubentities : [plan.entity]
    var layouts = [plan.layout]
    var isSelfContained = true
    var next = 0
    while next < reached.count {
      let relationships = reached[next].relationshipsByName
      next += 1
      for name in names {
        guard let entity = relationships[name]?.destinationEntity else { continue }
        isSelfContained = false
        guard !reached.contains(where: { $0 === entity }) else { continue }
        reached += entity.withSubentities.filter { found in
          !reached.contains { $0 === found }
        }
        let layout = EntityLayout.of(entity)
        if !layouts.contains(where: { $0.rootIndex == layout.rootIndex }) { layouts.append(layout) }
      }
    }
    return (layouts, isSelfContained)
  }
}

extension NSManagedObjectContext {
  /// Returns whether this context or one of its parents has unsaved changes of some tables.
  ///
  /// - Parameter tables: The tables' indexes.
  fileprivate final func hasUnsavedChanges(in tables: Set<Int>) -> Bool {
    if changes.all.contains(where: { tables.contains($0.layout.tableIndex) }) { return true }
    return askParent { $0.hasUnsavedChanges(in: tables) } ?? false
  }
}

extension EntityLayout {
  /// The index of the root entity in the model, which is the same for each store.
  fileprivate var tableIndex: Int { rootIndex &- rootOffset }
}

extension SQLiteReader {
  /// Returns the number of rows, and the sums of primary keys and versions, of an entity's table:
  /// any save changes one.
  func signature(of layout: EntityLayout, in scope: ProfileScope) throws -> [Int64] {
    let entity = sqlite.entity(layout)
    let query = SelectQuery(
      sql: "SELECT COUNT(*), TOTAL(Z_PK), TOTAL(Z_OPT) FROM \(SQLSyntax.quoted(entity.table))",
      projection: Projection(entity: entity, extent: .identifiers))
    var values: [Int64] = []
    try sqlite.select(query, on: connection, for: entity.name, in: scope) { statement in
      values = (0..<3).map { statement.int64($0) }
    }
    return values
  }
}
