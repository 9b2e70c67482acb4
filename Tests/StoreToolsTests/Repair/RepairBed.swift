import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

/// A store to corrupt, and the comparison of what's recovered with what's intact.
struct RepairBed {
  let folder: TemporaryFolder
  let url: URL
  let intact: IntactStore
  let bytes: [UInt8]

  /// The stores to repair: those written by Core Data that contain their model, and `Office`.
  static let stores =
    (SharedData.moodyStores == nil ? [] : SharedData.stores.filter { !$0.contains("Recipes") })
    + ["Office"]

  /// Copies a store written by Core Data, or creates one with b-trees of several levels, overflow
  /// pages, and free pages with deleted rows.
  init(_ path: String = "Office") throws {
    folder = try TemporaryFolder()
    url = folder.file("Original.sqlite")
    if path == "Office" {
      let office = try OfficeStore()
      try office.run(Self.rows)
      try FileManager.default.copyItem(at: office.url, to: url)
    } else {
      let source = try SharedData.url(path)
      try FileManager.default.copyItem(at: source, to: url)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
    }
    intact = try IntactStore(url)
    bytes = try [UInt8](Data(contentsOf: url))
  }

  private static let rows = """
    WITH n(i) AS (VALUES (10) UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZHOURS) SELECT i, (SELECT Z_ENT FROM ZNOTE), 1, i * 0.5 FROM n;
    DELETE FROM ZNOTE WHERE Z_PK > 900;
    WITH n(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
      SELECT i, (SELECT Z_ENT FROM ZTAG), 1, char(0xFEFF) || 'é' || i FROM n;
    UPDATE Z_PRIMARYKEY SET Z_MAX = 1500 WHERE Z_NAME IN ('Note', 'Tag');
    UPDATE ZPARTY SET ZNAME = printf('%.*c', 40000, 'x') WHERE Z_PK = 2;
    UPDATE ZPARTY SET ZPHOTO = CAST(x'01' || zeroblob(9000) AS BLOB) WHERE Z_PK = 3;
    """

  /// The four bytes of a number in a file of SQLite.
  static func number(_ value: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(value).bigEndian, Array.init)
  }

  var pageSize: Int { intact.pageSize }
  var pageCount: Int { bytes.count / pageSize }

  /// The stores for tests that repair each of many times.
  static let fewStores = stores.filter {
    ["Moody.moody", "V2.sqlite", "Office"].contains(where: $0.hasSuffix)
  }

  /// Writes a corrupt file, repairs it, and compares the result with what must be recoverable.
  ///
  /// - Parameters:
  ///   - bytes: The corrupt file.
  ///   - corrupt: The numbers of the corrupt pages.
  ///   - what: What is corrupt, for messages.
  ///   - check: Whether to compare the rows.
  /// - Returns: The report.
  @discardableResult
  func repair(
    _ bytes: [UInt8], without corrupt: Set<Int> = [], _ what: String,
    check: Bool = true
  ) throws -> RepairReport {
    try Data(bytes).write(to: url)
    let before = try FolderState(folder.url)
    let out = try TemporaryFolder()
    let file = out.file("Out.sqlite")
    let report: RepairReport
    do {
      report = try StoreRepair.repair(url, to: file)
    } catch let error as InvalidInputError where "\(error)".contains("--model") {
      #expect(try FileManager.default.contentsOfDirectory(atPath: out.url.path) == [], "\(what)")
      report = try StoreRepair.repair(url, to: file, model: intact.model)
    }
    #expect(try FolderState(folder.url) == before, "\(what)")
    let names = try Set(FileManager.default.contentsOfDirectory(atPath: out.url.path))
    #expect(names.subtracting(["Out.sqlite", ".Out_SUPPORT"]) == [], "\(what)")
    let found = try StoreDoctor.examine(file).findings.map(\.message)
    #expect(found == report.remaining.map(\.message), "\(what)")
    #expect(!report.remaining.contains { $0.rule == .integrity }, "\(what): \(report.remaining)")
    if check { try compare(file, report, without: corrupt, what) }
    return report
  }

  /// Compares a new store with the intact rows.
  func compare(
    _ file: URL, _ report: RepairReport, without corrupt: Set<Int>, _ what: String
  ) throws {
    let (expected, actual) = (
      intact.recoverable(without: corrupt), try IntactStore.tables(file)
    )
    var isLost = false
    for (table, rows) in intact.tables where !rows.isEmpty {
      let wanted = expected[table] ?? [:]
      let found = actual.first { $0.key.uppercased() == table.uppercased() }?.value ?? [:]
      if intact.joins[table] != nil {
        let (one, two) = (
          pairs(wanted.values.map { $0.compactMapValues(\.self) }), pairs(found.values)
        )
        #expect(one == two, "\(what): \(table)")
        isLost = isLost || two.count < rows.count
        continue
      }
      isLost = isLost || found.count < rows.count
      let (lost, invented) = (
        Set(wanted.keys).subtracting(found.keys), Set(found.keys).subtracting(wanted.keys)
      )
      #expect(lost.isEmpty, "\(what): \(table) lacks \(lost.sorted().prefix(5))")
      #expect(invented.isEmpty, "\(what): \(table) has \(invented.sorted().prefix(5))")
      for (key, row) in wanted {
        guard let actual = found[key] else { continue }
        for (column, value) in row {
          let isEqual = value.map { $0 == actual[column] } ?? true
          let text = actual[column].map(\.description) ?? "missing"
          #expect(isEqual, "\(what): \(table).\(column) of \(key) is \(text)")
        }
      }
    }
    #expect(!isLost || !report.isComplete, "\(what): a loss isn't reported")
  }

  /// Join rows, without their rowids.
  private func pairs(_ rows: some Sequence<[String: SQLiteValue]>) -> Set<[String]> {
    Set(rows.map { row in row.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } })
  }

  /// Returns the file with a page replaced.
  func replacing(_ page: Int, with content: some Sequence<UInt8>) -> [UInt8] {
    var bytes = bytes
    let start = (page - 1) * pageSize
    for (index, byte) in content.prefix(pageSize).enumerated() { bytes[start + index] = byte }
    return bytes
  }

  /// Returns the bytes of a page.
  func page(_ number: Int) -> ArraySlice<UInt8> {
    bytes[((number - 1) * pageSize)..<(number * pageSize)]
  }
}
