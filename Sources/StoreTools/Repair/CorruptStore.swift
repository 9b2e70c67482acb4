import Foundation
import OpenCoreData
import SQLiteDriver
import WorkbenchText

/// The schema, model, and housekeeping rows of a corrupt store, as far as its pages can be read.
struct CorruptStore {
  /// A table, whose position in `tables` identifies it.
  struct Table {
    let name: String
    /// The identifier of its pages in the page map.
    let id: Int32
    /// Its columns; none if they're lost, until `addMissing` adds those of a new store.
    var definition: TableDefinition
    /// Whether the file states the columns.
    let hasDefinition: Bool
    /// Whether the file's schema contains it, so that its root page is known.
    let hasRoot: Bool
  }

  let pages: DatabasePages
  let map: PageMap
  /// By uppercase name.
  private(set) var tables: [String: Table] = [:]
  private(set) var tablesByID: [Int32: Table] = [:]
  /// The row of `Z_METADATA`: the UUID, and the property list if it can be read.
  private(set) var uuid: String?
  private(set) var metadata: [String: Any]?
  /// The contents of `Z_MODELCACHE`, if it's readable.
  private(set) var modelCache: [UInt8]?
  private(set) var storedModel: NSManagedObjectModel?
  /// The rows of `Z_PRIMARYKEY`: ID, name, parent's ID, and `Z_MAX`.
  private(set) var entities: [(number: Int64, name: String, parent: Int64, maximum: Int64)] = []
  /// All leaf pages, the most reliable first.
  private(set) var leaves: [PageMap.LeafPage] = []
  /// Why the WAL isn't read, in a sentence; `nil` if it's read, or if there's none.
  private(set) var foreignWAL: String?
  /// Why a journal isn't read, in a sentence; `nil` if it's read, or if there's none.
  var committedJournal: String? {
    guard pages.hasCommittedJournal else { return nil }
    return "the journal isn't read, because the super-journal that it names doesn't exist, "
      + "which commits its transaction"
  }

  /// The identifier of the pages of `sqlite_schema`.
  static let schemaID: Int32 = 1

  /// Reads the schema and the housekeeping tables; without the WAL, if it's that of another store.
  ///
  /// **Cost:** reads the file twice, and the leaf pages of unknown tables once more; that twice if
  /// there's a WAL.
  /// - Throws: A `SQLiteError` if the file can't be read or is too large.
  init(path: String) throws {
    self.init(try DatabasePages(path: path))
    guard pages.frameCount > 0, let own = try? DatabasePages(path: path, ignoresWAL: true) else {
      return
    }
    var file = CorruptStore(own)
    guard let reason = file.difference(from: self) else { return }
    file.foreignWAL = "the WAL isn't read, because it belongs to another store: \(reason)"
    self = file
  }

  /// Returns what shows that a WAL belongs to another store; `nil` if nothing does.
  ///
  /// The checksums of a WAL are only its own, so SQLite reads any WAL that's next to a file.
  ///
  /// - Parameter merged: The store with the pages of the WAL.
  private func difference(from merged: CorruptStore) -> String? {
    // It's readable only if the size of a page is right.
    guard let uuid else { return nil }
    if pages.pageSize != merged.pages.pageSize {
      return "its pages have \(NumberText.grouped(merged.pages.pageSize)) bytes instead of "
        + NumberText.grouped(pages.pageSize)
    }
    if let other = merged.uuid, UUID(uuidString: uuid) != nil, UUID(uuidString: other) != nil {
      // A few other characters are corrupt ones.
      let different = zip(uuid.uppercased(), other.uppercased()).count { $0 != $1 }
      if different >= 8 { return "its UUID is \(other) instead of \(uuid)" }
    }
    return contradiction(in: merged)
  }

  /// Returns what in the pages of a WAL can't follow from those of the file; `nil` if all can.
  ///
  /// Only the first page counts changes, and states the number of pages and the unused ones.
  /// Without it in the WAL, no page was added, removed, or used for something else.
  private func contradiction(in merged: CorruptStore) -> String? {
    guard let header = pages.header, header.pageCount == pages.count else { return nil }
    if merged.pages.isInWAL(1) {
      guard let other = merged.pages.header, other.changeCounter < header.changeCounter else {
        return nil
      }
      return "its first page has the change counter \(NumberText.grouped(other.changeCounter)), "
        + "and that of the file is \(NumberText.grouped(header.changeCounter))"
    }
    guard merged.pages.count == pages.count else {
      return "its database has \(NumberText.grouped(merged.pages.count)) pages instead of "
        + NumberText.grouped(pages.count)
    }
    for leaf in leaves where leaf.grade == .trusted && merged.pages.isInWAL(leaf.number) {
      guard let table = tablesByID[leaf.table], table.hasDefinition,
        let page = merged.pages.page(leaf.number)
      else { continue }
      let limit = table.definition.columns.count
      func fits(_ row: PageMap.Row) -> Bool { row.values.count <= limit }
      guard map.leaf(leaf.number).rows.allSatisfy(fits) else { continue }
      // A leaf page of a table begins with 0x0D.
      if page.first != 0x0D || !merged.map.leaf(leaf.number).rows.allSatisfy(fits) {
        return "its page \(NumberText.grouped(Int(leaf.number))) isn't one of the table "
          + table.name
      }
    }
    return nil
  }

  private init(_ pages: DatabasePages) {
    self.pages = pages
    map = PageMap(pages)
    map.assign(root: 1, to: Self.schemaID)
    let found = map.leaves()
    var schema = found.filter { $0.table == Self.schemaID }
    if map.corrupt[Self.schemaID] != nil || schema.isEmpty {
      schema += found.filter { $0.table == 0 }
    }
    for leaf in schema {
      for row in map.leaf(leaf.number).rows { addTable(row.values) }
    }
    for table in tables.values.sorted(by: { $0.id < $1.id }) { tablesByID[table.id] = table }
    leaves = map.leaves()
    readHousekeeping()
  }

  private mutating func addTable(_ values: [SQLiteValue?]) {
    guard values.count == 5, values[0] == .text("table"), case .integer(let root)? = values[3],
      (2...Int64(UInt32.max)).contains(root), tables.count < StoreLimits.recoveredTables
    else { return }
    var definition: TableDefinition?
    if case .text(let sql)? = values[4] { definition = TableDefinition(sql) }
    // The name is in three places.
    var names = [definition?.name ?? ""]
    for case .text(let name)? in values[1...2] { names.append(name) }
    let counts = Dictionary(names.filter { !$0.isEmpty }.map { ($0, 1) }, uniquingKeysWith: +)
    guard let name = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key,
      tables[name.uppercased()] == nil
    else { return }
    let id = Self.schemaID + 1 + Int32(tables.count)
    tables[name.uppercased()] = Table(
      name: name, id: id, definition: definition ?? TableDefinition(columns: []),
      hasDefinition: definition != nil, hasRoot: true)
    map.assign(root: UInt32(root), to: id)
  }

  /// Adds a table, or the columns of a table, that the model has and the file's schema lacks.
  mutating func addMissing(_ name: String, _ columns: [TableDefinition.Column]) {
    let found = tables[name.uppercased()]
    guard found?.hasDefinition != true else { return }
    let table = Table(
      name: name, id: found?.id ?? Self.schemaID + 1 + Int32(tables.count),
      definition: TableDefinition(columns: columns), hasDefinition: false,
      hasRoot: found?.hasRoot ?? false)
    tables[name.uppercased()] = table
    tablesByID[table.id] = table
  }

  /// Returns the first rows of a housekeeping table that fit; of unknown pages if its pages have
  /// none.
  private func rows(
    of name: String, upTo limit: Int, where fits: ([SQLiteValue?]) -> Bool
  ) -> [PageMap.Row] {
    for id in [tables[name]?.id, 0].compactMap(\.self) {
      var rows: [PageMap.Row] = []
      for leaf in leaves where leaf.table == id && rows.count < limit {
        rows += map.leaf(leaf.number).rows.filter { fits($0.values) }.prefix(limit - rows.count)
      }
      if !rows.isEmpty { return rows }
    }
    return []
  }

  /// Returns whether values are those of the row of `Z_METADATA`.
  ///
  /// An app can set any identifier. One that isn't a UUID is confirmed by the property list, and
  /// one that's as long as a UUID is a corrupt UUID.
  private static func isMetadata(_ values: [SQLiteValue?]) -> Bool {
    guard values.count == 3, case .text(let identifier)? = values[1] else { return false }
    if UUID(uuidString: identifier) != nil { return true }
    let length = identifier.utf8.count
    guard length > 0, length <= StoreLimits.identifierLength, length != 36,
      case .blob(let bytes)? = values[2]
    else { return false }
    let list = PropertyList.read(bytes) as? [String: Any]
    return list?["NSStoreModelVersionHashes"] is [String: Data]
  }

  private mutating func readHousekeeping() {
    let metadataRows = rows(of: HousekeepingTables.metadata, upTo: 1, where: Self.isMetadata)
    if let values = metadataRows.first?.values, case .text(let text)? = values[1] {
      uuid = text
      if case .blob(let bytes)? = values[2] {
        metadata = PropertyList.read(bytes) as? [String: Any]
      }
    }
    let models = rows(of: HousekeepingTables.modelCache, upTo: 1) { values in
      guard values.count == 1, case .blob(let bytes)? = values[0] else { return false }
      return (try? ModelArchive.read(deflated: bytes)) != nil
    }
    if case .blob(let bytes)? = models.first?.values[0] {
      storedModel = try? ModelArchive.read(deflated: bytes)
      modelCache = bytes
    }
    let listed = rows(of: HousekeepingTables.entities, upTo: HousekeepingTables.largestEntityList) {
      values in
      guard values.count == 4, values[0] == .null, case .text? = values[1],
        case .integer? = values[2]
      else { return false }
      return true
    }
    for row in listed {
      guard case .text(let name)? = row.values[1], case .integer(let parent)? = row.values[2],
        (1...Int64(Int32.max)).contains(row.rowID)
      else { continue }
      var maximum: Int64 = 0
      if case .integer(let value)? = row.values[3] { maximum = value }
      entities.append((row.rowID, name, parent, maximum))
    }
  }

  /// What couldn't be read because of an error of the file system, each in a clause.
  var unreadable: [String] {
    var clauses: [String] = []
    if let number = pages.overlayError {
      clauses.append("the WAL or journal can't be read completely: \(FileErrorText.words(number))")
    }
    if let number = pages.unreadable.values.first {
      let count = NumberText.counted(pages.unreadable.count, "page")
      clauses.append("\(count) can't be read: \(FileErrorText.words(number))")
    }
    return clauses
  }

  /// Returns whether the file's schema has a table of one of a model's entities.
  func hasObjects(of model: NSManagedObjectModel) -> Bool {
    SQLModel(model: model).entities.contains { tables[$0.table.uppercased()]?.hasRoot == true }
  }

  /// Maps a model, or one of its configurations, to the tables and entity IDs that the file has or
  /// had.
  ///
  /// If rows have IDs that `Z_PRIMARYKEY` doesn't contain, the IDs in it that no row has are
  /// replaced by the smallest unused ones, provided that all IDs of rows are then known.
  ///
  /// **Cost:** reads some leaf pages of each table.
  /// - Throws: A `SQLiteError`.
  mutating func mapping(
    _ model: NSManagedObjectModel, _ configuration: String?
  ) throws -> SQLModel {
    let stated = try mappingOfStatedEntities(model, configuration)
    let known = Set(stated.entities.map { Int64($0.number) })
    var (unstated, unused): (Set<Int64>, Set<Int64>) = ([], [])
    for root in stated.roots {
      guard let table = tables[root.table.uppercased()] else { continue }
      let found = entityIDs(in: table)
      guard !found.isSubset(of: known) else { continue }
      unstated.formUnion(found.subtracting(known))
      unused.formUnion(root.family.map { Int64($0.number) }.filter { !found.contains($0) })
    }
    guard !unused.isEmpty else { return stated }
    let all = entities
    entities.removeAll { unused.contains($0.number) }
    let assumed = try mappingOfStatedEntities(model, configuration)
    if unstated.isSubset(of: assumed.entities.map { Int64($0.number) }) { return assumed }
    entities = all
    return stated
  }

  /// The maximum number of pages of a table whose entity IDs are compared with those of the model.
  private static let sampledLeaves = 16

  private func entityIDs(in table: Table) -> Set<Int64> {
    let sample = leaves.lazy.filter { $0.table == table.id && $0.grade == .trusted }
    var numbers: Set<Int64> = []
    for leaf in sample.prefix(Self.sampledLeaves) {
      for row in map.leaf(leaf.number).rows where row.values.count > 1 {
        if case .integer(let number)? = row.values[1] { numbers.insert(number) }
      }
    }
    return numbers
  }

  private func mappingOfStatedEntities(
    _ model: NSManagedObjectModel, _ configuration: String?
  ) throws -> SQLModel {
    let skeleton = try Connection(path: ":memory:", access: .writing)
    defer { skeleton.close() }
    for table in tables.values.sorted(by: { $0.id < $1.id }) {
      guard !table.name.uppercased().hasPrefix("SQLITE_"), table.name != HousekeepingTables.entities
      else {
        continue
      }
      let columns = table.definition.columns.map { "\(SQLSyntax.quoted($0.name)) \($0.type)" }
      // Names that SQLite refuses belong to no table of Core Data.
      try? skeleton.execute(
        "CREATE TABLE \(SQLSyntax.quoted(table.name)) (\(columns.joined(separator: ", ")))")
    }
    try skeleton.execute(
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME, Z_SUPER, Z_MAX)")
    for entity in entities {
      _ = try skeleton.values(
        "INSERT OR IGNORE INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)",
        [.integer(entity.number), .text(entity.name), .integer(entity.parent)])
    }
    return try SQLModel(
      model: model, configuration: configuration, connection: skeleton, ignoresMissing: true)
  }
}
