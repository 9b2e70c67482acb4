import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite(
  "A repair reads files next to the store as SQLite does, and limits what a hostile file costs")
struct HostileRepairTests {
  /// Changes a store in a mode, copies its files before they're merged, and returns the copy.
  private func copy(
    _ pragmas: String, _ statements: String, suffix: String, to folder: TemporaryFolder
  ) throws -> URL {
    let office = try OfficeStore()
    let connection = try Connection(path: office.url.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    try connection.execute("\(pragmas); \(statements)")
    let url = folder.file("Copy.sqlite")
    for suffix in ["", suffix] {
      try FileManager.default.copyItem(atPath: office.url.path + suffix, toPath: url.path + suffix)
    }
    return url
  }

  private static let inserts =
    "WITH n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    + "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZHOURS) SELECT i, (SELECT Z_ENT FROM ZNOTE), 1, i FROM n"

  @Test func rowsInTheWALAreRecoveredUpToTheFirstCorruptFrame() throws {
    let folder = try TemporaryFolder()
    let url = try copy(
      "PRAGMA wal_autocheckpoint = 0",
      "UPDATE ZPASSPORT SET ZNUMBER = 77; \(Self.inserts); UPDATE ZNOTE SET ZHOURS = -1",
      suffix: "-wal", to: folder)
    let wal = URL(fileURLWithPath: url.path + "-wal")
    let bytes = try Data(contentsOf: wal)
    let frame = 24 + 4_096
    let count = (bytes.count - 32) / frame
    #expect(count > 4)
    var results: Set<Int> = []
    for corrupt in 0...count {
      var changed = bytes
      if corrupt < count { changed[32 + corrupt * frame + 2_000] ^= 0x5A }
      try changed.write(to: wal)
      let before = try FolderState(folder.url)
      let out = try TemporaryFolder()
      let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
      #expect(try FolderState(folder.url) == before)
      // SQLite reads a copy: it recovers the WAL and checkpoints it.
      let reference = try TemporaryFolder()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: url.path + suffix, toPath: reference.file("Copy.sqlite").path + suffix)
      }
      let expected = try IntactStore.tables(reference.file("Copy.sqlite"))
      let actual = try IntactStore.tables(out.file("Out.sqlite"))
      for table in ["ZNOTE", "ZPASSPORT", "ZTAG"] {
        #expect(actual[table] == expected[table], "\(table), frame \(corrupt)")
      }
      results.insert(report.walPages)
    }
    #expect(results.count > 2 && results.contains(0))
  }

  /// SQLite reads any WAL next to a file.
  @Test(arguments: [true, false])
  func theWALOfAnotherStoreIsNotRead(hasOtherUUID: Bool) throws {
    let folder = try TemporaryFolder()
    let office = try OfficeStore()
    let url = folder.file("Copy.sqlite")
    try FileManager.default.copyItem(at: office.url, to: url)
    let other = try TemporaryFolder()
    let foreign = try copy(
      hasOtherUUID
        ? "PRAGMA wal_autocheckpoint = 0"
        : "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; "
          + "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0",
      "UPDATE ZPASSPORT SET ZNUMBER = 77; UPDATE Z_METADATA SET Z_UUID = '\(UUID().uuidString)'",
      suffix: "-wal", to: other)
    try FileManager.default.copyItem(atPath: foreign.path + "-wal", toPath: url.path + "-wal")
    let report = try StoreRepair.repair(url, to: folder.file("Out.sqlite"))
    #expect(report.walPages == 0 && !report.isComplete)
    #expect(report.assumptions.count == 1)
    let reason = hasOtherUUID ? "its UUID is" : "its pages have 8,192 bytes instead of 4,096"
    #expect(report.assumptions.first?.contains(reason) == true, "\(report.assumptions)")
    let tables = try IntactStore.tables(folder.file("Out.sqlite"))
    #expect(try tables["ZPASSPORT"] == IntactStore.tables(office.url)["ZPASSPORT"])
    withExtendedLifetime(office.folder) {}
  }

  /// A WAL that doesn't contain the page with the UUID.
  struct ForeignWAL: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Statements on the store, and on the other one before its WAL begins, and in the WAL.
    let own, before, logged: String
    /// Why it's another store's.
    let reason: String
  }

  static let foreignWALs = [
    ForeignWAL(
      testDescription: "more pages", own: "", before: inserts,
      logged: "UPDATE ZPASSPORT SET ZNUMBER = 77", reason: "pages instead of"),
    ForeignWAL(
      testDescription: "another table in a page", own: "",
      before: "ALTER TABLE ZPASSPORT RENAME TO ZP; ALTER TABLE ZP ADD COLUMN A",
      logged: "UPDATE ZP SET A = 1, ZNUMBER = 77",
      reason: "isn't one of the table ZPASSPORT"),
    ForeignWAL(
      testDescription: "fewer changes",
      own: (1...20).map { "CREATE TABLE T\($0)(A)" }.joined(separator: ";"),
      before: "PRAGMA user_version",
      logged: "CREATE TABLE T(A); UPDATE ZPASSPORT SET ZNUMBER = 77",
      reason: "its first page has the change counter"),
  ]

  @Test(arguments: foreignWALs)
  func theWALOfAnotherStoreWithoutItsUUIDIsNotRead(wal: ForeignWAL) throws {
    let folder = try TemporaryFolder()
    let office = try OfficeStore()
    for statement in wal.own.split(separator: ";") { try office.run(String(statement)) }
    let url = folder.file("Copy.sqlite")
    try FileManager.default.copyItem(at: office.url, to: url)
    let other = try TemporaryFolder()
    let foreign = try copy(
      "\(wal.before); PRAGMA wal_checkpoint = TRUNCATE; PRAGMA wal_autocheckpoint = 0",
      wal.logged, suffix: "-wal", to: other)
    try FileManager.default.copyItem(atPath: foreign.path + "-wal", toPath: url.path + "-wal")
    let report = try StoreRepair.repair(url, to: folder.file("Out.sqlite"))
    #expect(report.walPages == 0)
    #expect(
      report.assumptions.contains { $0.contains(wal.reason) }, "\(report.assumptions)")
    let tables = try IntactStore.tables(folder.file("Out.sqlite"))
    #expect(try tables["ZPASSPORT"] == IntactStore.tables(office.url)["ZPASSPORT"])
    withExtendedLifetime(office.folder) {}
  }

  /// A transaction whose pages don't fit in the cache.
  private static let unfinished =
    "BEGIN; UPDATE ZNOTE SET ZHOURS = -1; DELETE FROM ZNOTE WHERE Z_PK > 500; "
    + "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) "
    + "SELECT Z_PK + 1000, (SELECT Z_ENT FROM ZTAG), 1, hex(zeroblob(500)) FROM ZNOTE"

  @Test func aHotJournalIsRolledBack() throws {
    let folder = try TemporaryFolder()
    let url = try copy(
      "PRAGMA journal_mode = DELETE; \(Self.inserts); PRAGMA cache_size = 2",
      Self.unfinished, suffix: "-journal", to: folder)
    let before = try FolderState(folder.url)
    let out = try TemporaryFolder()
    let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
    #expect(try FolderState(folder.url) == before)
    #expect(report.journalPages > 5)
    let notes = try IntactStore.tables(out.file("Out.sqlite"))["ZNOTE"] ?? [:]
    #expect(notes.count == 897)
    #expect(notes.allSatisfy { key, row in key < 10 || row["ZHOURS"] == .real(Double(key)) })
  }

  /// The header of a journal has no checksum.
  @Test(arguments: [0x00FF_FFFF, 0x7FFF_FFFF] as [UInt32])
  func aJournalThatStatesManyMorePagesThanExistIsRolledBack(pages: UInt32) throws {
    let folder = try TemporaryFolder()
    let url = try copy(
      "PRAGMA journal_mode = DELETE; \(Self.inserts); PRAGMA cache_size = 2",
      Self.unfinished, suffix: "-journal", to: folder)
    let journal = URL(fileURLWithPath: url.path + "-journal")
    var bytes = try Data(contentsOf: journal)
    for index in 0..<4 { bytes[16 + index] = UInt8(pages >> (24 - 8 * index) & 0xFF) }
    try bytes.write(to: journal)
    let out = try TemporaryFolder()
    let begin = threadTime()
    let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
    #expect(threadTime() - begin < 10)
    #expect(report.journalPages > 5)
    let notes = try IntactStore.tables(out.file("Out.sqlite"))["ZNOTE"] ?? [:]
    #expect(notes.count == 897)
    #expect(notes.allSatisfy { key, row in key < 10 || row["ZHOURS"] == .real(Double(key)) })
  }

  @Test func aJournalOfACommittedTransactionIsNotReadAndReported() throws {
    let folder = try TemporaryFolder()
    let url = try copy(
      "PRAGMA journal_mode = DELETE; \(Self.inserts); PRAGMA cache_size = 2",
      Self.unfinished, suffix: "-journal", to: folder)
    let name = Array(folder.file("absent").path.utf8)
    var record = RepairBed.number(0x4000_0000 / 4_096 + 1) + name + RepairBed.number(name.count)
    record += RepairBed.number(name.reduce(0) { $0 + Int($1) })
    record += [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let journal = URL(fileURLWithPath: url.path + "-journal")
    try (Data(contentsOf: journal) + record).write(to: journal)
    let out = try TemporaryFolder()
    let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
    #expect(report.journalPages == 0 && !report.isComplete)
    #expect(report.assumptions.contains { $0.contains("super-journal that it names") })
  }

  @Test func anExternalDataFileThatIsLargerThanTheDiskIsNotCopied() throws {
    let folder = try TemporaryFolder()
    let store = try OfficeStore()
    let name = UUID().uuidString
    try store.addFile(name)
    try store.run(
      "UPDATE ZPARTY SET ZPHOTO = CAST(x'02' || CAST('\(name)' AS BLOB) || x'00' AS BLOB) "
        + "WHERE ZCODE = 'c1'")
    // The file is sparse.
    let file = ExternalStorage(storeURL: store.url).folder.appendingPathComponent(name)
    try #require(truncate(file.path, 1 << 43) == 0)
    let begin = threadTime()
    #expect(throws: (any Error).self) {
      try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    }
    #expect(threadTime() - begin < 10)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
  }

  @Test func aFileWithoutPartsOfAStoreIsRejected() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Other.sqlite")
    for content in [Data(), Data("text".utf8), Data(repeating: 0x0D, count: 100_000)] {
      try content.write(to: url)
      #expect(throws: InvalidInputError.self) {
        try StoreRepair.repair(url, to: folder.file("Out.sqlite"), model: OfficeStore.model())
      }
    }
    mkfifo(folder.file("Pipe").path, 0o600)
    for path in [folder.file("Pipe"), folder.url, folder.file("Absent")] {
      #expect(throws: InvalidInputError.self) {
        try StoreRepair.repair(path, to: folder.file("Out.sqlite"), model: OfficeStore.model())
      }
    }
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: folder.url.path))
        == ["Other.sqlite", "Pipe"])
  }

  @Test func aFileWithTooManyPagesIsRejected() throws {
    let bed = try RepairBed()
    // The file is sparse.
    #expect(truncate(bed.url.path, off_t(4_096) * (1 << 24) + 4_096) == 0)
    let error = #expect(throws: InvalidInputError.self) {
      try StoreRepair.repair(bed.url, to: bed.folder.file("Out.sqlite"))
    }
    #expect(error?.nextStep.contains("--repair") == false)
  }

  /// A repair is the next step of the commands that can't read a file.
  @Test func theNextStepOfAStoreWithoutATableIsARepair() throws {
    let store = try OfficeStore()
    try store.run("DROP TABLE Z_PRIMARYKEY")
    let error = #expect(throws: InvalidInputError.self) { try StoreDoctor.examine(store.url) }
    #expect(error?.nextStep.contains("--repair") == true)
    let folder = try TemporaryFolder()
    let report = try StoreRepair.repair(store.url, to: folder.file("Out.sqlite"))
    #expect(report.entries.first { $0.name == "Passport" }?.recovered == 3)
    try Data().write(to: folder.file("Empty.sqlite"))
    let empty = #expect(throws: InvalidInputError.self) {
      try StoreRepair.repair(folder.file("Empty.sqlite"), to: folder.file("New.sqlite"))
    }
    #expect(empty?.message.hasSuffix("is empty") == true)
  }

  @Test func pagesThatReferToEachOtherAreVisitedOnce() throws {
    let bed = try RepairBed()
    let page = try #require(interior(of: bed))
    let start = (page - 1) * bed.pageSize
    let count = Int(bed.bytes[start + 3]) << 8 | Int(bed.bytes[start + 4])
    // The first and the last child.
    let cell = start + Int(bed.bytes[start + 12]) << 8 + Int(bed.bytes[start + 13])
    #expect(count > 0)
    for offset in [cell, start + 8] {
      for target in [page, 1, 0, 0xFFFF_FFFF] {
        var bytes = bed.bytes
        for index in 0..<4 { bytes[offset + index] = UInt8(target >> (24 - 8 * index) & 0xFF) }
        let report = try bed.repair(bytes, "a child is \(target)")
        #expect(report.corruptPages.values.reduce(0, +) > 0)
      }
    }
  }

  /// Returns the root page of the table of notes, which has several leaf pages.
  private func interior(of bed: RepairBed) -> Int? {
    (2...bed.pageCount).first { number in
      let page = bed.page(number)
      return page.first == 0x05 && number > 2
        && Int(page[page.startIndex + 3]) << 8 + Int(page[page.startIndex + 4]) > 0
    }
  }

  @Test func manyRecordsOfOneOverflowChainAreReadOnce() throws {
    let bed = try RepairBed()
    let location = try #require(bed.intact.locations["ZPARTY"]?[2])
    // All pointers of the page refer to the cell with the chain.
    let start = (location.leaf - 1) * bed.pageSize
    var bytes = bed.bytes
    let count = Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])
    #expect(count > 1)
    let keys = (bed.intact.locations["ZPARTY"] ?? [:]).filter { $0.value.leaf == location.leaf }
      .keys.sorted()
    let index = try #require(keys.firstIndex(of: 2))
    for other in 0..<count {
      bytes[start + 8 + 2 * other] = bytes[start + 8 + 2 * index]
      bytes[start + 9 + 2 * other] = bytes[start + 9 + 2 * index]
    }
    let report = try bed.repair(bytes, "one chain", check: false)
    #expect(report.corruptPages["ZPARTY"] == 1)
    let parties = report.entries.filter { ["Person", "Company"].contains($0.name) }
    #expect(parties.map(\.recovered).reduce(0, +) < count)
  }

  @Test func fileWithTooManyPagesIsAnErrorThatStatesTheLimit() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Large.sqlite")
    try Data("SQLite format 3\0".utf8).write(to: url)
    // A sparse file, with more pages than the limit even if they have 64 KB.
    #expect(truncate(url.path, (StoreLimits.pages + 1) << 16) == 0)
    let error = #expect(throws: SQLiteError.self) { try DatabasePages(path: url.path) }
    #expect(error?.message.hasSuffix("pages, and the limit is 16777216") == true, "\(error as Any)")
  }
}
