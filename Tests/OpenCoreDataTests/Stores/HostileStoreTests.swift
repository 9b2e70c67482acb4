import ProfileEvents
import Testing

@testable import OpenCoreData
@testable import SQLiteDriver

@Suite("Untrusted stores are read within limits, and only stores are destroyed")
struct HostileStoreTests {
  private let stack: TestStack

  init() throws {
    stack = try TestStack(model: SchemaModels.library())
    let context = try stack.coldContext()
    try context.performAndWait {
      NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        .setValue("one", forKey: "name")
      try context.save()
    }
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    try context.persistentStoreCoordinator?.remove(store)
  }

  /// Everything in the stack's folder: names and bytes, and the targets of links.
  private func image() throws -> [String: String] {
    let files = FileManager.default
    return try files.subpathsOfDirectory(atPath: stack.folder.path).reduce(into: [:]) {
      let path = stack.folder.appendingPathComponent($1).path
      let target = try? files.destinationOfSymbolicLink(atPath: path)
      var info = stat()
      lstat(path, &info)
      let isFile = info.st_mode & S_IFMT == S_IFREG
      $0[$1] =
        try target
        ?? (isFile && info.st_size > 0
          ? Data(contentsOf: URL(fileURLWithPath: path)).base64EncodedString() : "")
    }
  }

  @Test(
    "a connection for SQL from a scenario limits the VM steps and the time of each statement",
    arguments: [Connection.Access.inspecting, .reading, .writing])
  func connectionForSQLHasLimits(access: Connection.Access) throws {
    let connection = try StoreConnection.open(path: stack.storeURL.path, access: access)
    defer { connection.close() }
    #expect(connection.budget.limit == StoreLimits.confinedSteps)
    #expect(connection.budget.statementSeconds == StoreLimits.confinedTime)
  }

  // MARK: Destroying and replacing

  /// Creates something that isn't a store.
  private func make(_ kind: String) throws -> URL {
    let url = stack.folder.appendingPathComponent("Other")
    let files = FileManager.default
    switch kind {
    case "missing": break
    case "empty": try Data().write(to: url)
    case "text": try Data("a text that somebody needs".utf8).write(to: url)
    case "folder":
      try files.createDirectory(at: url, withIntermediateDirectories: false)
      try Data([1]).write(to: url.appendingPathComponent("file"))
    case "fifo": mkfifo(url.path, 0o600)
    case "device": return URL(fileURLWithPath: "/dev/null")
    case "link": try files.createSymbolicLink(at: url, withDestinationURL: stack.storeURL)
    case "link to text":
      let text = stack.folder.appendingPathComponent("Text")
      try Data("text".utf8).write(to: text)
      try files.createSymbolicLink(at: url, withDestinationURL: text)
    case "other database":
      let connection = try Connection(path: url.path, access: .writing)
      try connection.execute("CREATE TABLE t(a)")
      connection.close()
    case "truncated":
      try Data(contentsOf: stack.storeURL).prefix(5_000).write(to: url)
    case "document":
      try Data("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"d\">\n<database/>".utf8)
        .write(to: url)
    case "corrupt":
      var bytes = try Data(contentsOf: stack.storeURL)
      bytes.replaceSubrange(100..<300, with: Data(repeating: 0xFF, count: 200))
      try bytes.write(to: url)
    case "corrupt metadata":
      try FileManager.default.copyItem(at: stack.storeURL, to: url)
      try corruptMetadata(of: url)
    default: try Data("SQLite format 3\0 and no more".utf8).write(to: url)
    }
    return url
  }

  /// Overwrites the beginning of the page of `Z_METADATA`; the schema stays intact.
  private func corruptMetadata(of url: URL) throws {
    let connection = try Connection(path: url.path, access: .inspecting)
    let root = try connection.values(
      "SELECT rootpage FROM sqlite_master WHERE name = 'Z_METADATA'")
    let size = try connection.values("PRAGMA page_size")
    connection.close()
    guard case .integer(let page)? = root.first?.first, case .integer(let bytes)? = size[0].first
    else {
      Issue.record("there's no metadata")
      return
    }
    var file = try Data(contentsOf: url)
    let start = Int((page - 1) * bytes)
    file.replaceSubrange(start..<start + 100, with: Data(repeating: 0xFF, count: 100))
    try file.write(to: url)
  }

  private static let kinds = [
    "missing", "empty", "text", "folder", "fifo", "device", "link", "link to text",
    "other database", "truncated", "header only",
  ]

  @Test("What isn't a store isn't destroyed", arguments: kinds, [true, false])
  func onlyStoresAreDestroyed(_ kind: String, isForced: Bool) throws {
    let url = try make(kind)
    let before = try image()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]
    for type in types {
      // A corrupt database could be a store.
      if type == .sqlite, ["truncated", "header only"].contains(kind) { continue }
      let error = #expect(throws: NSError.self, "\(type.rawValue)") {
        try coordinator.destroyPersistentStore(
          at: url, type: type, options: [NSPersistentStoreForceDestroyOption: isForced])
      }
      #expect(error?.code == Self.code(ofDestroying: kind, type))
      #expect(try image() == before)
    }
    var info = stat()
    #expect(kind != "device" || (stat("/dev/null", &info) == 0 && info.st_mode & S_IFMT == S_IFCHR))
  }

  /// The code of the error of destroying something that isn't a store.
  private static func code(
    ofDestroying kind: String, _ type: NSPersistentStore.StoreType
  ) -> Int {
    switch kind {
    // A store at /dev/null is in memory.
    case "device": NSPersistentStoreOperationError
    case "missing": CocoaError.Code.fileReadNoSuchFile.rawValue
    case "text", "truncated", "header only": CocoaError.Code.fileReadCorruptFile.rawValue
    case "empty", "other database":
      type == .sqlite ? NSPersistentStoreOpenError : CocoaError.Code.fileReadCorruptFile.rawValue
    default: NSPersistentStoreOpenError
    }
  }

  /// By these codes, programs decide whether to delete a store and to create another one.
  @Test(
    "A file that isn't a store is an error with Core Data's code for the cause",
    arguments: [
      ("text", 259, 26), ("truncated", 259, 11), ("header only", 259, 11), ("corrupt", 259, 11),
      ("document", 259, 26), ("empty", 134080, nil), ("folder", 134080, nil), ("fifo", 134080, nil),
      ("other database", 134080, nil), ("missing", 260, nil),
    ] as [(String, Int, Int?)])
  func unusableStoresHaveCoreDatasCodes(kind: String, code: Int, sqliteCode: Int?) throws {
    let url = try make(kind)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    var errors = [
      thrownError {
        try coordinator.addPersistentStore(
          type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: true])
      },
      thrownError {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
      },
      thrownError {
        try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: url)
      },
      thrownError { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) },
    ]
    if sqliteCode != 11 {
      errors.append(thrownError { try coordinator.destroyPersistentStore(at: url, type: .sqlite) })
    }
    // The tables of a copied file aren't examined.
    if kind != "other database" {
      errors.append(
        thrownError {
          try coordinator.replacePersistentStore(
            at: stack.folder.appendingPathComponent("Copy"), withPersistentStoreFrom: url,
            type: .sqlite)
        })
    }
    // An empty file becomes a store, and a missing one is created.
    if kind != "empty", kind != "missing" {
      errors.append(thrownError { try coordinator.addPersistentStore(type: .sqlite, at: url) })
      let container = NSPersistentContainer(name: "Library", managedObjectModel: stack.model)
      container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
      container.loadPersistentStores { errors.append($1 as NSError?) }
    }
    for error in errors {
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == code, "\(error as Any)")
      #expect(error?.userInfo[NSFilePathErrorKey] as? String == url.path)
      #expect(error?.userInfo[NSSQLiteErrorDomain] as? Int == sqliteCode)
    }
  }

  /// The schema is intact, so SQLite finds the corruption when it reads the metadata.
  @Test("A corrupt page is an error with Core Data's code", arguments: [true, false])
  func corruptPagesHaveCoreDatasCode(isReadOnly: Bool) throws {
    try corruptMetadata(of: stack.storeURL)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    let errors = [
      thrownError {
        try coordinator.addPersistentStore(
          type: .sqlite, at: stack.storeURL,
          options: [NSReadOnlyPersistentStoreOption: isReadOnly])
      },
      thrownError {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
          type: .sqlite, at: stack.storeURL)
      },
      thrownError {
        try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: stack.storeURL)
      },
    ]
    for error in errors {
      #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue, "\(error as Any)")
      let number = error?.userInfo[NSSQLiteErrorDomain] as? Int
      #expect(number.map { $0 & 0xFF } == 11)
    }
  }

  @Test(
    "A corrupt store is destroyed, so that the app can create another one",
    arguments: ["truncated", "header only", "corrupt", "corrupt metadata"], [true, false])
  func corruptStoreIsDestroyed(kind: String, isForced: Bool) throws {
    let url = try make(kind)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
    try coordinator.destroyPersistentStore(
      at: url, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: isForced])
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try coordinator.addPersistentStore(type: .sqlite, at: url)
  }

  @Test("A corrupt store isn't replaced unless that's forced")
  func corruptStoreIsReplacedIfForced() throws {
    let url = try make("corrupt metadata")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    func replace(isForced: Bool) throws {
      try coordinator.replacePersistentStore(
        at: url, destinationOptions: [NSPersistentStoreForceDestroyOption: isForced],
        withPersistentStoreFrom: stack.storeURL, type: .sqlite)
    }
    #expect(throws: NSError.self) { try replace(isForced: false) }
    try replace(isForced: true)
    try coordinator.addPersistentStore(type: .sqlite, at: url)
  }

  @Test(
    "What isn't a store isn't replaced by one",
    arguments: kinds.filter { !["missing", "empty", "device"].contains($0) })
  func onlyStoresAreReplaced(_ kind: String) throws {
    let url = try make(kind)
    let before = try image()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    #expect(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: url, withPersistentStoreFrom: stack.storeURL, type: .sqlite)
    }
    #expect(try image() == before)
    let context = try stack.coldContext()
    let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
    #expect(throws: NSError.self) {
      try context.persistentStoreCoordinator?.migratePersistentStore(store, to: url, type: .sqlite)
    }
    try context.persistentStoreCoordinator?.remove(store)
    #expect(try image() == before)
  }

  @Test("Destroying removes a link in place of the external data folder, but not its target")
  func destroyingRemovesASupportFolderLinkButNotItsTarget() throws {
    let other = try TestStack(model: SchemaModels.library())
    let kept = other.folder.appendingPathComponent("kept")
    try Data([1]).write(to: kept)
    let support = ExternalStorage(storeURL: stack.storeURL).folder.deletingLastPathComponent()
    symlink(other.folder.path, support.path)
    try NSPersistentStoreCoordinator(managedObjectModel: stack.model).destroyPersistentStore(
      at: stack.storeURL, type: .sqlite)
    #expect(try image().isEmpty)
    #expect(FileManager.default.fileExists(atPath: kept.path))
  }

  // MARK: External data

  @Test(
    "A link, FIFO, or folder isn't read as an external data file, and a link's target is kept",
    arguments: ["file link", "fifo", "folder", "support link", "data link"])
  func linksFIFOsAndFoldersAreNotReadAsExternalDataFiles(_ kind: String) throws {
    let other = try TestStack(model: SchemaModels.library())
    let storage = ExternalStorage(storeURL: stack.storeURL)
    let file = ExternalFile()
    let secret = Data("what isn't the store's".utf8)
    let (support, data) = (storage.folder.deletingLastPathComponent(), storage.folder)
    let files = FileManager.default
    let outside = other.folder.appendingPathComponent("_EXTERNAL_DATA")
    try files.createDirectory(at: outside, withIntermediateDirectories: false)
    try secret.write(to: outside.appendingPathComponent(file.name))
    switch kind {
    case "support link": symlink(other.folder.path, support.path)
    case "data link":
      try files.createDirectory(at: support, withIntermediateDirectories: false)
      symlink(outside.path, data.path)
    default:
      try files.createDirectory(at: data, withIntermediateDirectories: true)
      let path = data.appendingPathComponent(file.name).path
      switch kind {
      case "file link": symlink(outside.appendingPathComponent(file.name).path, path)
      case "fifo": mkfifo(path, 0o600)
      default: mkdir(path, 0o700)
      }
    }
    #expect(try storage.files().isEmpty)
    let error = #expect(throws: NSError.self) { try storage.read(file) }
    #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    let copy = other.folder.appendingPathComponent("Copy.sqlite")
    if kind == "support link" || kind == "data link" {
      // The values can't be copied, and a copy without them would be incomplete.
      #expect(throws: NSError.self) { try StoreFile.copy(from: stack.storeURL, to: copy) }
      #expect(throws: NSError.self) { try storage.write(Data([1])) }
    } else {
      try StoreFile.copy(from: stack.storeURL, to: copy)
    }
    #expect(try ExternalStorage(storeURL: copy).files().isEmpty)
    storage.remove(named: [file.name])
    #expect(try files.contentsOfDirectory(atPath: outside.path) == [file.name])
    #expect(try Data(contentsOf: outside.appendingPathComponent(file.name)) == secret)
  }

  @Test("An external data file above the limit is an error that states it")
  func externalDataFileAboveTheLimitIsAnError() throws {
    let storage = ExternalStorage(storeURL: stack.storeURL)
    let file = try storage.write(Data([1, 2, 3]))
    #expect(try storage.read(file) == Data([1, 2, 3]))
    #expect(truncate(storage.folder.appendingPathComponent(file.name).path, 3 << 30) == 0)
    let error = #expect(throws: NSError.self) { try storage.read(file) }
    #expect(error?.localizedDescription.contains("the limit is 2147483648") == true)
  }

  @Test(
    "An XML or binary store above the limit is an error that states it",
    arguments: [AtomicStoreForm.xml, .binary])
  func documentAboveTheLimitIsAnError(form: AtomicStoreForm) throws {
    let url = stack.folder.appendingPathComponent("Large")
    try Data("<?xml".utf8).write(to: url)
    #expect(truncate(url.path, Int(StoreLimits.documentSize) + 1) == 0)
    let error = #expect(throws: NSError.self) { try AtomicStoreFile(url: url, form: form).read() }
    #expect(error?.localizedDescription.contains("the limit is 2147483648 bytes") == true)
  }

  // MARK: Housekeeping tables

  private static let endless =
    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n) SELECT"

  /// A table, and the SQL that creates its replacement.
  private static let replacements: [(table: String, sql: String)] = [
    (
      "Z_METADATA",
      "CREATE VIEW Z_METADATA AS \(endless) 1 Z_VERSION, 'u' Z_UUID, x'' Z_PLIST FROM n"
    ),
    (
      "Z_METADATA",
      "CREATE VIEW z_metadata AS \(endless) 1 Z_VERSION, 'u' Z_UUID, x'' Z_PLIST FROM n"
    ),
    ("Z_MODELCACHE", "CREATE VIEW Z_MODELCACHE AS \(endless) x'00' Z_CONTENT FROM n"),
    (
      "Z_PRIMARYKEY",
      "CREATE VIEW Z_PRIMARYKEY AS \(endless) i Z_ENT, 'a' Z_NAME, 0 Z_SUPER, 0 Z_MAX FROM n"
    ),
    (
      "Z_METADATA",
      "CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR, "
        + "Z_PLIST AS (zeroblob(900000000)))"
    ),
    (
      "Z_MODELCACHE",
      "CREATE TABLE Z_MODELCACHE(a, Z_CONTENT GENERATED ALWAYS AS "
        + "(instr(zeroblob(200000000), zeroblob(100000000))) VIRTUAL)"
    ),
    (
      "Z_PRIMARYKEY",
      "CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, "
        + "Z_MAX AS(length(zeroblob(900000000))))"
    ),
    ("Z_MODELCACHE", "CREATE VIRTUAL TABLE Z_MODELCACHE USING fts5(Z_CONTENT)"),
    ("ACHANGE", "CREATE VIEW ACHANGE AS \(endless) i Z_PK FROM n"),
  ]

  @Test(
    "A view, a generated column, or a virtual table isn't read as a housekeeping table",
    arguments: replacements)
  func viewsAndGeneratedColumnsAreNotReadAsHousekeepingTables(
    _ replaced: (table: String, sql: String)
  ) throws {
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("DROP TABLE IF EXISTS \(replaced.table); \(replaced.sql)")
    // Inserts a row if the replacement accepts one.
    try? connection.execute("INSERT INTO \(replaced.table) DEFAULT VALUES")
    connection.close()
    for isReadOnly in [true, false] {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(
          type: .sqlite, at: stack.storeURL,
          options: [
            NSReadOnlyPersistentStoreOption: isReadOnly,
            NSIgnorePersistentStoreVersioningOption: true,
          ])
      }
      #expect(error?.code == NSPersistentStoreOpenError)
      #expect(error?.localizedDescription.contains(replaced.table) == true)
    }
    #expect(throws: NSError.self) { try StoreModel.ofStore(at: stack.storeURL) }
    #expect(throws: NSError.self) { try NSManagedObjectModel.inStore(at: stack.storeURL) }
    #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: .sqlite, at: stack.storeURL)
    }
  }

  @Test("Only one row of a large housekeeping table is read")
  func onlyOneRowOfALargeHousekeepingTableIsRead() throws {
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute(
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
        + "INSERT INTO Z_MODELCACHE SELECT zeroblob(1000000) FROM n")
    let sql = "SELECT Z_CONTENT FROM Z_MODELCACHE"
    #expect(try HousekeepingTables.row(sql, on: connection)?.count == 1)
    let statement = try connection.statement(sql)
    let before = statement.work
    _ = try HousekeepingTables.row(sql, on: connection)
    #expect(statement.work.vmSteps - before.vmSteps < 100)
    // One row is enough: 200 of them would be 14 GB of writes.
    try connection.execute(
      "DELETE FROM Z_MODELCACHE WHERE rowid > 1; "
        + "UPDATE Z_MODELCACHE SET Z_CONTENT = zeroblob(70000000)")
    let error = #expect(throws: SQLiteError.self) {
      try HousekeepingTables.row(sql, on: connection)
    }
    #expect(error?.message == "a value has 70000000 bytes, and the limit is 67108864")
  }

  @Test("Thousands of indexes of a table are read in linear time")
  func indexesAreReadInLinearTime() throws {
    let writer = try Connection(path: stack.storeURL.path, access: .writing)
    // They're added to the schema, because each `CREATE INDEX` reads all of it.
    try writer.execute(
      "CREATE TABLE many(a); CREATE TABLE filler(b); "
        + "INSERT INTO filler VALUES(zeroblob(8000 * 4096)); PRAGMA writable_schema = 1; "
        + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000) "
        + "INSERT INTO sqlite_master SELECT 'index', 'many' || i, 'many', "
        + "i + (SELECT rootpage FROM sqlite_master WHERE name = 'filler'), "
        + "'CREATE INDEX many' || i || ' ON many(a)' FROM n")
    writer.close()
    let connection = try Connection(path: stack.storeURL.path, access: .reading)
    defer { connection.close() }
    // SQLite reads the schema.
    _ = try connection.values("SELECT * FROM many")
    let begin = threadTime()
    let indexes = try FileObjects(reading: connection).indexes
    #expect(threadTime() - begin < 20)
    #expect(indexes.count { $0.table == "many" && $0.isPlain } == 8_000)
  }

  @Test("A model is inferred from thousands of tables in linear time")
  func aModelIsInferredFromThousandsOfTablesInLinearTime() throws {
    let (first, count) = (1_000, 8_000)
    let attributes = (1...10).map { "ZA\($0) VARCHAR" }.joined(separator: ", ")
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("BEGIN; DELETE FROM Z_MODELCACHE")
    for number in 0..<count {
      try connection.execute(
        "CREATE TABLE ZT\(number)(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(attributes)); "
          + "INSERT INTO Z_PRIMARYKEY VALUES (\(first + number), 'T\(number)', 0, 0)")
    }
    try connection.execute(
      "ALTER TABLE ZT1 ADD COLUMN ZOWNER INTEGER; ALTER TABLE ZT1 ADD COLUMN Z1002_OWNER INTEGER; "
        + "ALTER TABLE ZT1 ADD COLUMN Z1003THINGS INTEGER; "
        + "CREATE TABLE Z_1004FRIENDS(Z_1004FRIENDS INTEGER, Z_1005PALS INTEGER); COMMIT")
    connection.close()
    let begin = threadTime()
    let model = try StoreModel.ofStore(at: stack.storeURL).model
    #expect(threadTime() - begin < 30)
    func relationships(_ name: String) -> [String: String] {
      let relationships = model.entitiesByName[name]?.relationshipsByName ?? [:]
      return relationships.compactMapValues { $0.destinationEntity?.name }
    }
    #expect(model.entitiesByName["T7999"]?.attributesByName.count == 10)
    #expect(relationships("T1") == ["owner": "T2"])
    #expect(relationships("T3") == ["things": "T1"])
    #expect(relationships("T4") == ["pals": "T5"])
    #expect(relationships("T5") == ["friends": "T4"])
  }
}
