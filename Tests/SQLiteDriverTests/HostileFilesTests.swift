import Foundation
import Testing

@testable import SQLiteDriver

@Suite("Hostile files can't affect other files")
struct HostileFilesTests {
  @Test(
    "a super-journal isn't deleted, and determines whether the journal is rolled back",
    arguments: [Connection.Access.inspecting, .writing], [true, false])
  func foreignSuperJournalIsNeverDeleted(_ access: Connection.Access, exists: Bool) throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    let victim = other.file("victim")
    if exists { try other.write(Array("a foreign file".utf8), to: "victim") }
    let path = folder.file("store")
    try HostileJournal.make(path)
    try HostileJournal.appendSuperJournal(victim, to: path + "-journal")
    let (before, mine) = (try FolderImage(other.path), try FolderImage(folder.path))

    let connection = try Connection(path: path, access: access)
    let changed = try connection.values("SELECT count(*) FROM t WHERE number = 1")
    connection.close()
    if exists {
      #expect(changed == [[.integer(0)]], "rolled back")
    } else {
      #expect(changed != [[.integer(0)]], "without its super-journal, a journal is ignored")
    }
    #expect(try FolderImage(other.path) == before)
    if access == .inspecting { #expect(try FolderImage(folder.path) == mine) }
  }

  @Test("a super-journal path that names the store, its journal, or its folder changes nothing")
  func superJournalNamingTheStoresOwnFilesModifiesNothing() throws {
    for name in ["store", "store-journal", "other", "missing/../other", "../"] {
      let folder = try TemporaryFolder()
      let path = folder.file("store")
      try HostileJournal.make(path)
      try folder.write([1, 2, 3], to: "other")
      try HostileJournal.appendSuperJournal(folder.file(name), to: path + "-journal")
      let before = try FolderImage(folder.path)
      let connection = try? Connection(path: path, access: .inspecting)
      _ = try? connection?.values("SELECT count(*) FROM t")
      connection?.close()
      #expect(try FolderImage(folder.path) == before, "\(name)")
    }
  }

  @Test(
    "recovery rolls back a journal if SQLite does: if its super-journal exists and isn't empty",
    arguments: ["a foreign file", "", nil] as [String?])
  func journalOfACommittedTransactionIsNotRolledBack(_ contents: String?) throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    if let contents { try other.write(Array(contents.utf8), to: "super") }
    let path = folder.file("store")
    try HostileJournal.make(path)
    try HostileJournal.appendSuperJournal(other.file("super"), to: path + "-journal")
    let pages = try DatabasePages(path: path)
    let recovered = pages.journalCount > 0
    #expect(recovered == (contents?.isEmpty == false))
    #expect(pages.hasCommittedJournal == !recovered)
    let connection = try Connection(path: path, access: .inspecting)
    let changed = try connection.values("SELECT count(*) FROM t WHERE number = 1")
    connection.close()
    #expect(recovered == (changed == [[.integer(0)]]))
  }

  @Test("a copy of a store is rolled back, and the super-journal isn't deleted")
  func copiedStoreIsRolledBackAndKeepsTheSuperJournal() throws {
    let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
    try other.write([1], to: "victim")
    try HostileJournal.make(folder.file("store"))
    try HostileJournal.appendSuperJournal(
      other.file("victim"), to: folder.file("store-journal"))
    try RolledBackCopy.copyStore(from: folder.file("store"), to: other.file("copy"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: other.path).sorted()
        == ["copy", "victim"])
    let connection = try Connection(path: other.file("copy"), access: .writing)
    #expect(
      try connection.values("SELECT sum(number), count(*) FROM t")
        == [[.integer(0), .integer(1_000)]])
  }

  @Test("a file system without a limit isn't full")
  func fileSystemsWithoutBlocksAreNotFull() {
    var space = statvfs()
    #expect(FreeSpace.bytes(space) == nil)
    space.f_blocks = 10
    space.f_frsize = 512
    #expect(FreeSpace.bytes(space) == 0)
    space.f_bavail = 3
    #expect(FreeSpace.bytes(space) == 1_536)
  }

  @Test("a journal that would restore a database of terabytes is an error")
  func journalWithHugePageCountIsAnError() throws {
    let folder = try TemporaryFolder()
    try HostileJournal.make(folder.file("store"))
    try HostileJournal.setPageCount(0x7fff_ffff, in: folder.file("store-journal"))
    let error = #expect(throws: SQLiteError.self) {
      try Connection(path: folder.file("store"), access: .inspecting)
    }
    // Some file systems don't support files of that size.
    #expect([ResultCode.corrupt, .inputOutput, .full].contains(error?.code.primary))
  }

  @Test(
    "a journal or WAL that's a FIFO, a link, or a folder is rejected without blocking",
    arguments: ["-wal", "-journal"], ["fifo", "link", "folder"])
  func walAndJournalMustBeRegularFiles(_ suffix: String, _ kind: String) throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("store", in: folder)
    try folder.write([1], to: "other")
    let path = folder.file("store" + suffix)
    switch kind {
    case "fifo": mkfifo(path, 0o600)
    case "link": symlink(folder.file("other"), path)
    default: mkdir(path, 0o700)
    }
    for access in [Connection.Access.inspecting, .writing, .reading] {
      // SQLite ignores a WAL if the store isn't in WAL mode, and a folder named like a journal.
      let connection = try? Connection(path: folder.file("store"), access: access)
      #expect(connection == nil || access != .inspecting, "\(access)")
      connection?.close()
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("other"))) == Data([1]))
    guard case .notAFile(let named)? = StoreFileProblem.examine(path: folder.file("store")) else {
      Issue.record("not rejected")
      return
    }
    #expect(named == path)
  }

  // MARK: Statements

  @Test(
    "a confined connection rejects statements that access files outside of its store",
    arguments: [
      ("ATTACH 'FILE' AS x", "ATTACH"), ("ATTACH DATABASE ('FI' || 'LE') AS x", "ATTACH"),
      ("ATTACH ':memory:' AS x", "ATTACH"), ("VACUUM INTO 'FILE'", "VACUUM INTO"),
      ("VACUUM main INTO ('FI' || 'LE')", "VACUUM INTO"),
      ("SELECT load_extension('FILE')", "load_extension"),
      ("SELECT fts3_tokenizer('simple', x'4141414141414141')", "fts3_tokenizer"),
      ("SELECT FTS3_Tokenizer('simple')", "fts3_tokenizer"),
      ("PRAGMA temp_store_directory = 'FILE'", "temp_store_directory"),
      ("PRAGMA data_store_directory = 'FILE'", "data_store_directory"),
      ("PRAGMA writable_schema = 1", "writable_schema"), ("PRAGMA trusted_schema = 1", "trusted"),
      ("PRAGMA hard_heap_limit = 1", "hard_heap_limit"), ("PRAGMA mmap_size = 1", "mmap_size"),
      ("PRAGMA main.Lock_Proxy_File = 'FILE'", "Lock_Proxy_File"),
      ("CREATE VIRTUAL TABLE v USING csv(filename='FILE')", "csv"),
    ])
  func confinedConnectionRejectsAccessOutsideOfItsStore(_ sql: String, _ named: String) throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("store", in: folder)
    let text = sql.replacingOccurrences(of: "FILE", with: folder.file("other"))
    for access in [Connection.Access.inspecting, .writing] {
      let connection = try Connection(path: folder.file("store"), access: access)
      connection.confine()
      let error = #expect(throws: SQLiteError.self) { try connection.execute(text) }
      #expect(error?.code == .authorization && error?.message.contains(named) == true)
      #expect(error?.message.hasSuffix("can access only its own store") == true)
      connection.close()
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("other")))
  }

  @Test("a confined connection allows changes, indexes, and virtual tables of its store")
  func confinedConnectionAllowsWorkInsideOfItsStore() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("store", in: folder)
    let connection = try Connection(path: folder.file("store"), access: .writing)
    connection.confine()
    try connection.execute(
      """
      CREATE TABLE u(a); INSERT INTO u VALUES(1); CREATE INDEX i ON u(a); ANALYZE; REINDEX;
      CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES('word');
      CREATE TEMP TABLE v AS SELECT * FROM u; PRAGMA user_version = 3; PRAGMA journal_mode = DELETE
      """)
    try connection.execute("VACUUM")
    #expect(try connection.values("SELECT a FROM f WHERE f MATCH 'word'") == [[.text("word")]])
    #expect(try connection.values("PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test("a pragma that sets a path of the process is rejected when a store is opened")
  func pragmaOfAProcessPathIsRejectedOnOpen() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: SQLiteError.self) {
      try Connection(
        path: folder.file("store"), access: .writing,
        options: Connection.Options(pragmas: [("Temp_Store_Directory", "'/'")]))
    }
    #expect(error?.message.contains("isn't allowed") == true)
  }

  // MARK: Schemas

  @Test("a read-only connection doesn't run views of an untrusted schema")
  func readOnlyConnectionRejectsUntrustedViews() throws {
    let folder = try TemporaryFolder()
    let writer = try Connection(path: folder.file("store"), access: .writing)
    try writer.execute(
      """
      CREATE TABLE t(a); INSERT INTO t VALUES(1);
      CREATE VIEW endless AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n)
        SELECT i FROM n;
      CREATE VIEW plain AS SELECT a FROM t
      """)
    writer.close()
    let connection = try Connection(path: folder.file("store"), access: .inspecting)
    #expect(throws: SQLiteError.self) { try connection.values("SELECT * FROM endless LIMIT 1") }
    let error = #expect(throws: SQLiteError.self) { try connection.values("SELECT * FROM plain") }
    #expect(error?.message.contains("access to view") == true, "\(String(describing: error))")
    #expect(try connection.values("SELECT a FROM t") == [[.integer(1)]])
  }

  @Test("a step limit stops statements, with an error that states it")
  func stepLimitStopsEndlessStatements() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    let endless =
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    for _ in 0..<2 {
      let error = #expect(throws: SQLiteError.self) {
        try connection.withStepLimit(1_000_000) { try connection.values(endless) }
      }
      #expect(error?.message == "stopped: the limit of this statement is 1000000 VM steps")
    }
    #expect(try connection.values("SELECT 1") == [[.integer(1)]])
    // Each statement is below the limit, and all together exceed it.
    let thousands =
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
      + "SELECT count(*) FROM n"
    #expect(throws: SQLiteError.self) {
      try connection.withStepLimit(1_000_000) {
        for _ in 0..<100 { _ = try connection.values(thousands) }
      }
    }
  }

  @Test("a time limit stops statements, with an error that states it")
  func timeLimitStopsEndlessStatements() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    connection.limitTime(0)
    let endless =
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    let error = #expect(throws: SQLiteError.self) { try connection.values(endless) }
    #expect(error?.message == "stopped: the time limit is 0 s")
    #expect(try connection.values("SELECT 1") == [[.integer(1)]])
  }

  @Test("a time limit of each statement stops one, and begins again for the next")
  func timeLimitOfAStatementBeginsAgain() throws {
    let connection = try Connection(path: ":memory:", access: .writing)
    let numbers = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n"
    // Each function makes much in one VM step.
    let slow = "\(numbers)) SELECT max(length(randomblob(100000))) FROM n"
    connection.limitStatementTime(0)
    for _ in 0..<2 {
      let error = #expect(throws: SQLiteError.self) { try connection.values(slow) }
      #expect(error?.message.contains("the time limit of this statement is 0 s; ") == true)
    }
    connection.limitStatementTime(2)
    Thread.sleep(forTimeInterval: 2.1)
    let short = "\(numbers) WHERE i < 1000) SELECT count(*) FROM n"
    #expect(try connection.values(short) == [[.integer(1_000)]])
    let shared = try connection.withStepLimit(1_000_000) { try connection.values(short) }
    #expect(shared == [[.integer(1_000)]])
  }

  @Test("a value, statement, or pattern beyond the limit is an error that states it")
  func valuesBeyondTheSizeLimitAreErrors() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("store", in: folder)
    let connection = try Connection(path: folder.file("store"), access: .inspecting)
    let error = #expect(throws: SQLiteError.self) {
      try connection.values("SELECT length(zeroblob(300000000))")
    }
    #expect(error?.message.contains("the limit is 268435456 bytes") == true)
    let long = #expect(throws: SQLiteError.self) {
      try connection.values("SELECT '\(String(repeating: "x", count: 16 << 20))'")
    }
    #expect(long?.message == "the statement is too long; the limit is 16777216 bytes")
    let pattern = #expect(throws: SQLiteError.self) {
      try connection.values("SELECT 'x' LIKE '\(String(repeating: "x", count: 10_001))'")
    }
    #expect(pattern?.message == "a LIKE or GLOB pattern is too long; the limit is 10000 bytes")
  }
}
