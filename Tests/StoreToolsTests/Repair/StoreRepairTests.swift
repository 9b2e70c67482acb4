import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("A repair recovers the rows of intact pages")
struct StoreRepairTests {
  /// A store written by Core Data, or one of OpenCoreData's with every feature and many rows.
  static let stores = SharedData.moodyStores == nil ? ["Office"] : SharedData.stores + ["Office"]

  /// Copies a store to a folder, with its external data files.
  private func copy(_ path: String, to folder: TemporaryFolder) throws -> URL {
    let url = folder.file("Original.sqlite")
    guard path != "Office" else {
      let office = try OfficeStore()
      try office.run(
        "WITH n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
          + "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZHOURS) SELECT i, "
          + "(SELECT Z_ENT FROM ZNOTE), 1, i * 0.5 FROM n; "
          + "UPDATE Z_PRIMARYKEY SET Z_MAX = 3000 WHERE Z_NAME = 'Note'; "
          + "UPDATE ZPARTY SET ZNAME = hex(randomblob(20000)) WHERE Z_PK = 2")
      try FileManager.default.copyItem(at: office.url, to: url)
      return url
    }
    let source = try SharedData.url(path)
    try FileManager.default.copyItem(at: source, to: url)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
    let files = ExternalStorage(storeURL: source).folder.deletingLastPathComponent()
    if FileManager.default.fileExists(atPath: files.path) {
      let target = ExternalStorage(storeURL: url).folder.deletingLastPathComponent()
      try FileManager.default.copyItem(at: files, to: target)
    }
    return url
  }

  /// The rows of a table by rowid, each as values by column.
  private typealias Rows = [Int64: [String: SQLiteValue]]

  private func rows(_ url: URL) throws -> [String: Rows] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    var tables: [String: Rows] = [:]
    for case .text(let table) in try connection.values(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name LIKE 'Z%' "
        + "AND name NOT LIKE 'Z\\_%' ESCAPE '\\'"
    ).compactMap(\.first) {
      let columns = try connection.values(
        "SELECT name FROM pragma_table_info(?)", [.text(table)]
      ).compactMap { row -> String? in
        if case .text(let name) = row[0] { name } else { nil }
      }
      for row in try connection.values("SELECT * FROM \(SQLNames.quoted(table))") {
        guard case .integer(let key) = row[0] else { continue }
        tables[table, default: [:]][key] = Dictionary(
          zip(columns, row), uniquingKeysWith: { first, _ in first })
      }
    }
    return tables
  }

  /// Returns the leaf page of each row of a table, found with `dbstat`'s page list and the cells of the
  /// undamaged file; a row with overflow pages has no page.
  private func rowPages(_ url: URL) throws -> [String: [UInt32: Set<Int64>]] {
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    let pages = try DatabasePages(path: url.path)
    let map = PageMap(pages)
    var result: [String: [UInt32: Set<Int64>]] = [:]
    for row in try connection.values(
      "SELECT s.name, s.pageno FROM dbstat s JOIN sqlite_master m ON m.name = s.name "
        + "WHERE m.type = 'table' AND s.pagetype = 'leaf'")
    {
      guard case .text(let table) = row[0], case .integer(let number) = row[1] else { continue }
      result[table, default: [:]][UInt32(number)] = Set(
        map.leaf(UInt32(number)).rows.map(\.rowID))
    }
    return result
  }

  private func isClean(_ report: RepairReport) -> Bool {
    report.remaining.allSatisfy { $0.rule == .missingValue }
  }

  @Test(arguments: Self.stores)
  func undamagedStoreIsRecoveredCompletely(path: String) throws {
    let folder = try TemporaryFolder()
    let url = try copy(path, to: folder)
    let (original, before) = (try rows(url), try FolderState(folder.url))
    let out = try TemporaryFolder()
    let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
    #expect(try FolderState(folder.url) == before)
    let found = try StoreDoctor.examine(url).findings.map(\.rule)
    #expect(report.remaining.filter { !found.contains($0.rule) } == [])
    #expect(report.damagedPages == [:] && report.undecoded == [:])
    let recovered = try rows(out.file("Out.sqlite"))
    for (table, rows) in original {
      #expect(Set(rows.keys) == Set(recovered[table]?.keys.map { $0 } ?? []), "\(table)")
    }
  }

  @Test(arguments: Self.stores, 1...3)
  func rowsOfIntactPagesAreRecoveredExactly(path: String, seed: Int) throws {
    let folder = try TemporaryFolder()
    let url = try copy(path, to: folder)
    let (original, located) = (try rows(url), try rowPages(url))
    var generator = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    let housekeeping = Set(
      ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY", "sqlite_schema", "sqlite_master"].flatMap {
        located[$0].map { Array($0.keys) } ?? []
      })
    let size = 4_096
    var bytes = try Data(contentsOf: url)
    var damaged: Set<UInt32> = []
    for _ in 0..<(1 + bytes.count / size / 20) {
      let page = UInt32(3 + generator.next(below: max(1, bytes.count / size - 2)))
      guard !housekeeping.contains(page), Int(page) * size <= bytes.count else { continue }
      damaged.insert(page)
      let start = (Int(page) - 1) * size
      for index in start..<(start + size) {
        bytes[index] = seed == 1 ? 0 : UInt8(generator.next(below: 256))
      }
    }
    try bytes.write(to: url)
    let before = try FolderState(folder.url)
    let out = try TemporaryFolder()
    let report: RepairReport
    do {
      report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
    } catch {
      // The overflow pages of the model are the only other thing that can't be replaced.
      #expect("\(error)".contains("--model"), "\(error)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: out.url.path) == [])
      return
    }
    #expect(try FolderState(folder.url) == before)
    #expect(isClean(report) || report.remaining.allSatisfy { $0.rule != .integrity }, "\(report)")
    let recovered = try rows(out.file("Out.sqlite"))
    for (table, rows) in original {
      for (page, keys) in located[table] ?? [:] where !damaged.contains(page) {
        for key in keys {
          let (expected, actual) = (rows[key] ?? [:], recovered[table]?[key])
          #expect(actual != nil, "\(table) \(key) of page \(page)")
          for (name, value) in actual ?? [:] where expected[name] != value && value != .null {
            // Counts of lost rows are computed again.
            #expect(report.derivedValues > 0, "\(table) \(key).\(name) of page \(page)")
          }
        }
      }
      let invented = Set(recovered[table]?.keys.map { $0 } ?? []).subtracting(rows.keys)
      #expect(invented.isEmpty, "\(table)")
    }
  }

  @Test(arguments: 1...30)
  func randomDamageNeverTrapsAndLeavesNothingBehind(seed: Int) throws {
    let folder = try TemporaryFolder()
    let url = try copy("Office", to: folder)
    var generator = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
    var bytes = try Data(contentsOf: url)
    for _ in 0..<(1 + generator.next(below: 40)) {
      let offset = generator.next(below: bytes.count)
      bytes[offset] = [0, 0xFF, UInt8(generator.next(below: 256))][generator.next(below: 3)]
    }
    if seed.isMultiple(of: 5) { bytes = bytes.prefix(generator.next(below: bytes.count)) }
    try bytes.write(to: url)
    let before = try FolderState(folder.url)
    let out = try TemporaryFolder()
    do {
      let report = try StoreRepair.repair(url, to: out.file("Out.sqlite"))
      #expect(!RepairText.lines(report).isEmpty)
      #expect(try !RepairJSON.data(report).isEmpty)
      #expect(!report.remaining.contains { $0.rule == .integrity })
      let names = try FileManager.default.contentsOfDirectory(atPath: out.url.path)
      #expect(names.filter { !["Out.sqlite", ".Out_SUPPORT"].contains($0) } == [])
    } catch {
      #expect(try FileManager.default.contentsOfDirectory(atPath: out.url.path) == [], "\(error)")
    }
    #expect(try FolderState(folder.url) == before)
  }

  @Test func modelOptionReplacesDamagedSchemaAndModel() throws {
    let folder = try TemporaryFolder()
    let url = try copy("Office", to: folder)
    let original = try rows(url)
    var bytes = try Data(contentsOf: url)
    for index in 0..<4_096 { bytes[index] = 0xAA }
    let cache = try #require(try rowPages(copy("Office", to: TemporaryFolder()))["Z_MODELCACHE"])
    for page in cache.keys {
      for index in ((Int(page) - 1) * 4_096)..<(Int(page) * 4_096) { bytes[index] = 0 }
    }
    try bytes.write(to: url)
    let out = folder.file("Out.sqlite")
    #expect(throws: (any Error).self) { try StoreRepair.repair(url, to: out) }
    #expect(!FileManager.default.fileExists(atPath: out.path))
    _ = try StoreRepair.repair(url, to: out, model: OfficeStore.model())
    let recovered = try rows(out)
    #expect(Set((original["ZNOTE"] ?? [:]).keys) == Set((recovered["ZNOTE"] ?? [:]).keys))
    #expect(Set((original["ZPARTY"] ?? [:]).keys) == Set((recovered["ZPARTY"] ?? [:]).keys))
  }

  @Test func committedFramesOfTheWALAreIncluded() throws {
    let folder = try TemporaryFolder()
    let office = try OfficeStore()
    let connection = try Connection(path: office.url.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    try connection.execute("PRAGMA wal_autocheckpoint = 0; UPDATE ZPASSPORT SET ZNUMBER = 77")
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: office.url.path + suffix, toPath: folder.file("Copy.sqlite").path + suffix)
    }
    let before = try FolderState(folder.url)
    let out = try TemporaryFolder()
    let report = try StoreRepair.repair(
      folder.file("Copy.sqlite"), to: out.file("Out.sqlite"))
    #expect(report.walPages > 0)
    #expect(try FolderState(folder.url) == before)
    let numbers = try rows(out.file("Out.sqlite"))["ZPASSPORT"]?.values.map { $0["ZNUMBER"] }
    #expect(numbers == Array(repeating: .integer(77), count: 3))
  }

  @Test func existingFilesAreNotReplaced() throws {
    let store = try OfficeStore()
    #expect(throws: (any Error).self) { try StoreRepair.repair(store.url, to: store.url) }
    #expect(try StoreDoctor.examine(store.url).findings == [])
  }
}

/// A deterministic random number generator (xorshift).
private struct SeededGenerator {
  var state: UInt64

  mutating func next(below bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(max(1, bound)))
  }
}
