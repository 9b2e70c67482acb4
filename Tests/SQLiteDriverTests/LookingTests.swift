import Foundation
import Testing

@testable import SQLiteDriver

struct LookingTests {
  @Test(arguments: StoreState.allCases, [false, true])
  func changesNothingInTheFolderAndSeesWhatIsCommitted(
    _ state: StoreState, isReadOnly: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let writer = try state.make("store.sqlite", in: folder)
    defer { writer?.close() }
    if isReadOnly { folder.setMode(0o555) }
    let before = try FolderImage(folder.path)

    let connection = try Connection(path: folder.file("store.sqlite"), access: .looking)
    try work(connection)
    let found = try connection.values("SELECT count(*), sum(number), min(length(text)) FROM t")
    #expect(found == [[.integer(1_000), .integer(499_500), .integer(100)]])
    #expect(try FolderImage(folder.path) == before, "while looking")
    #expect(connection.isPrivateCopy == (state == .hotJournal))
    #expect(connection.inspection?.isStale == false)
    connection.close()
    #expect(try FolderImage(folder.path) == before, "after looking")
    #expect(StoreFileProblem.examine(path: folder.file("store.sqlite")) == nil)
    #expect(try FolderImage(folder.path) == before, "after examining")
  }

  @Test(arguments: [
    "a?b.sqlite", "50%25 off#1 & more=2.sqlite", "it's \"quoted\".sqlite", "file:x?mode=memory",
    "Grüße 🙂 🇸🇪.sqlite", "a;b+c\\d\nline.sqlite", " ", ":memory:",
  ])
  func anyFileNameWillDo(_ name: String) throws {
    for state in [StoreState.closed, .log, .hotJournal] {
      let folder = try TemporaryFolder()
      _ = try state.make(name, in: folder)
      let before = try FolderImage(folder.path)
      for access in [Connection.Access.looking, .writing, .reading] {
        let connection = try Connection(path: folder.file(name), access: access)
        #expect(try connection.values("SELECT count(*) FROM t") == [[.integer(1_000)]])
        connection.close()
        if access == .looking { #expect(try FolderImage(folder.path) == before) }
      }
    }
  }

  @Test func aLinkIsFollowedToTheFilesBesideItsTarget() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.log.make("store", in: folder)
    let other = try TemporaryFolder()
    symlink(folder.file("store"), other.file("link"))
    let before = try FolderImage(other.path)
    let connection = try Connection(path: other.file("link"), access: .looking)
    #expect(try connection.values("SELECT count(*) FROM t") == [[.integer(1_000)]])
    connection.close()
    #expect(try FolderImage(other.path) == before)
  }

  @Test(arguments: [StoreState.closed, .liveWriter, .hotJournal])
  func lookingIsRefusedEveryWriteToTheStore(_ state: StoreState) throws {
    let folder = try TemporaryFolder()
    let writer = try state.make("store", in: folder)
    defer { writer?.close() }
    let connection = try Connection(path: folder.file("store"), access: .looking)
    for sql in ["DELETE FROM t", "CREATE TABLE u(a)", "PRAGMA user_version = 3", "VACUUM"] {
      let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
      #expect(error?.code.primary == .readOnly, "\(sql)")
    }
  }

  @Test func aWriteMeanwhileIsNoticedAndSeenByTheNextConnection() throws {
    let folder = try TemporaryFolder()
    let writer = try #require(try StoreState.liveWriter.make("store", in: folder))
    defer { writer.close() }
    let first = try Connection(path: folder.file("store"), access: .looking)
    #expect(try first.values("SELECT count(*) FROM t") == [[.integer(1_000)]])
    try writer.execute("INSERT INTO t(number) VALUES(1)")
    #expect(first.inspection?.isStale == true)
    #expect(try first.values("SELECT count(*) FROM t") == [[.integer(1_000)]])
    let second = try Connection(path: folder.file("store"), access: .looking)
    #expect(second.inspection?.isStale == false)
    #expect(try second.values("SELECT count(*) FROM t") == [[.integer(1_001)]])
  }

  @Test(arguments: ["WAL", "DELETE"])
  func aWriteRightAfterAWriteIsNoticed(_ journal: String) throws {
    let folder = try TemporaryFolder()
    let options = Connection.Options(pragmas: [
      ("journal_mode", journal), ("wal_autocheckpoint", "1"), ("synchronous", "OFF"),
    ])
    let writer = try Connection(path: folder.file("store"), access: .writing, options: options)
    defer { writer.close() }
    try writer.execute("CREATE TABLE t(v); INSERT INTO t VALUES(0)")
    for round in 1...20 {
      // Neither write changes a size, and a file system's clock is slower than both.
      try writer.execute("UPDATE t SET v = \(round)")
      let connection = try Connection(path: folder.file("store"), access: .looking)
      defer { connection.close() }
      #expect(try connection.values("SELECT v FROM t") == [[.integer(Int64(round))]])
      #expect(connection.inspection?.isStale == false)
      try writer.execute("UPDATE t SET v = \(-round)")
      #expect(connection.inspection?.isStale == true, "round \(round)")
    }
  }

  @Test(arguments: [(0.0, false), (-1.0, true), (60.0, true)])
  func aFileIsSettledOnceItsClockMustHaveTicked(_ age: Double, isSettled: Bool) throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.log.make("store", in: folder)
    for name in ["store", "store-wal"] {
      let date = Date(timeIntervalSinceNow: name == "store" ? -60 : age)
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: folder.file(name))
    }
    #expect(try StoreFileInspection(path: folder.file("store")).isSettled == isSettled)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give files away"))
  func aLogKeepsItsOwner() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.log.make("store", in: folder)
    chown(folder.file("store-wal"), 65_534, 65_534)
    let before = try FolderImage(folder.path)
    try Connection(path: folder.file("store"), access: .looking).close()
    #expect(try FolderImage(folder.path) == before)
  }

  @Test func aStoreThatIsWrittenToAllTheTimeIsBusy() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("store")
    let options = Connection.Options(pragmas: [("synchronous", "OFF")])
    let writer = try Connection(path: path, access: .writing, options: options)
    try writer.execute("CREATE TABLE t(v)")
    let (stop, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let thread = Thread {
      while stop.wait(timeout: .now()) == .timedOut {
        try? writer.execute("INSERT INTO t VALUES(1); DELETE FROM t")
        usleep(500)
      }
      writer.close()
      isOver.signal()
    }
    thread.start()
    // On a busy machine the writer may rest longer than looking waits for; it is asked again then.
    var codes: [ResultCode?] = []
    while codes.last != .busy, codes.count < 50 {
      do throws(SQLiteError) {
        try Connection(path: path, access: .looking).close()
        codes.append(nil)
      } catch {
        codes.append(error.code)
      }
    }
    #expect(codes.last == .busy)
    stop.signal()
    isOver.wait()
    #expect(throws: Never.self) { try Connection(path: path, access: .looking) }
  }

  @Test func aLogThatAppearsIsNoticed() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.closed.make("store", in: folder)
    let connection = try Connection(path: folder.file("store"), access: .looking)
    let writer = try Connection(path: folder.file("store"), access: .writing)
    defer { writer.close() }
    try writer.execute("INSERT INTO t(number) VALUES(1)")
    #expect(connection.inspection?.isStale == true)
  }

  @Test func aLogBesideAnEmptyFileIsLeftAlone() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.log.make("store", in: folder)
    try folder.write([], to: "store")
    let before = try FolderImage(folder.path)
    let connection = try Connection(path: folder.file("store"), access: .looking)
    #expect(try connection.values("SELECT count(*) FROM sqlite_master") == [[.integer(0)]])
    connection.close()
    #expect(try FolderImage(folder.path) == before)
  }

  @Test func thePrivateCopyGoesWithItsConnection() throws {
    let folder = try TemporaryFolder()
    _ = try StoreState.hotJournal.make("store", in: folder)
    func copyPath(_ connection: Connection) throws -> String {
      guard case .text(let path) = try connection.values("PRAGMA database_list")[0][2] else {
        return ""
      }
      return path
    }
    let connection = try Connection(path: folder.file("store"), access: .looking)
    let path = try copyPath(connection)
    #expect(!path.hasPrefix(folder.path))
    #expect(FileManager.default.fileExists(atPath: path))
    connection.close()
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    #expect(!FileManager.default.fileExists(atPath: parent))

    let pool = try ConnectionPool(path: folder.file("store"), access: .looking)
    let (one, two) = (try pool.lease(), try pool.lease())
    #expect(try copyPath(one) == copyPath(two))
    let shared = try copyPath(one)
    pool.returnToPool(one)
    pool.close()
    #expect(try two.values("SELECT count(*) FROM t") == [[.integer(1_000)]])
    pool.returnToPool(two)
    #expect(!FileManager.default.fileExists(atPath: shared))
  }

  @Test func lookingDropsNoLockOfAnotherConnection() throws {
    for state in [StoreState.log, .closed, .rollback] {
      let folder = try TemporaryFolder()
      _ = try state.make("store", in: folder)
      let writer = try Connection(path: folder.file("store"), access: .writing)
      defer { writer.close() }
      try writer.execute("BEGIN IMMEDIATE; INSERT INTO t(number) VALUES(1)")
      let probe = LockProbe(folder.file("store"))
      #expect(probe.isLocked)
      try Connection(path: folder.file("store"), access: .looking).close()
      #expect(StoreFileProblem.examine(path: folder.file("store")) == nil)
      #expect(probe.isLocked)
      try writer.execute("COMMIT")
    }
  }

  @Test(.enabled(if: SharedStores.areThere || SharedStores.mustBeThere, "needs ../shared/data"))
  func storesOfAppleAreReadAsTheyAre() throws {
    #expect(SharedStores.areThere)
    for path in SharedStores.paths {
      let original = URL(fileURLWithPath: path).deletingLastPathComponent().path
      let folder = try TemporaryFolder()
      try folder.copy(path, as: "store")
      for (place, file) in [(original, path), (folder.path, folder.file("store"))] {
        let before = try FolderImage(place)
        #expect(StoreFileProblem.examine(path: file) == nil)
        let connection = try Connection(path: file, access: .looking)
        let tables = try connection.values(
          "SELECT name FROM sqlite_master WHERE name = ?",
          [
            .text("Z_METADATA")
          ])
        #expect(tables == [[.text("Z_METADATA")]])
        #expect(try connection.values("SELECT Z_VERSION FROM Z_METADATA") == [[.integer(1)]])
        connection.close()
        #expect(try FolderImage(place) == before)
      }
    }
  }

  /// What a caller may do besides reading: arrays, temporary tables, sorts.
  private func work(_ connection: Connection) throws {
    try connection.bindIntArray(0, [1, 2, 3, 5_000])
    let sql = "SELECT count(*) FROM t WHERE id IN (SELECT * FROM _Z_intarray0)"
    #expect(try connection.values(sql) == [[.integer(3)]])
    try connection.execute(
      "CREATE TEMP TABLE kept AS SELECT id FROM t; SELECT * FROM t ORDER BY text")
    _ = try connection.explainQueryPlan(sql)
  }
}
