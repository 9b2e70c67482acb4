import Foundation
import SQLiteDriver

/// A store with a manipulated hot rollback journal.
enum HostileJournal {
  /// Appends the record that names a super-journal, in SQLite's format.
  static func appendSuperJournal(_ name: String, to journal: String) throws {
    let bytes = Array(name.utf8)
    var record = bigEndian(0x4000_0000 / 4096 + 1) + bytes + bigEndian(UInt32(bytes.count))
    record += bigEndian(UInt32(bytes.reduce(0) { $0 + Int($1) }))
    record += [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
    defer { try? file.close() }
    try file.seekToEnd()
    try file.write(contentsOf: Data(record))
  }

  /// Sets the number of pages that the journal restores the database to.
  static func setPageCount(_ count: UInt32, in journal: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: journal))
    defer { try? file.close() }
    try file.seek(toOffset: 16)
    try file.write(contentsOf: Data(bigEndian(count)))
  }

  /// Creates a table `t` of 1,000 rows with number 0, and a crashed transaction that set it to 1.
  static func make(_ path: String) throws {
    let source = try TemporaryFolder()
    let original = source.file("original")
    let writer = try Connection(
      path: original, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    defer { writer.close() }
    try writer.execute(
      """
      CREATE TABLE t(number INTEGER, text TEXT);
      WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO t SELECT 0, printf('%100d', i) FROM n;
      PRAGMA cache_size = 2; BEGIN; UPDATE t SET number = 1
      """)
    try FileManager.default.copyItem(atPath: original, toPath: path)
    try FileManager.default.copyItem(atPath: original + "-journal", toPath: path + "-journal")
    try writer.execute("ROLLBACK")
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}
