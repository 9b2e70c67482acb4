import Foundation
import SQLiteDriver

/// The possible states of a store's files.
///
/// Each has 1,000 committed rows.
enum StoreState: String, CaseIterable {
  /// In WAL mode, closed cleanly.
  case closed
  /// With a rollback journal, closed cleanly.
  case rollback
  /// With an empty WAL.
  case emptyWAL
  /// After a crash: half of the rows are only in the WAL.
  case wal
  /// The same, with the WAL's index file.
  case walAndIndex
  /// Open in a writer; half of the rows are only in the WAL.
  case liveWriter
  /// With a finished journal, whose header is zeroed.
  case finishedJournal
  /// After a crash in a transaction that had changed the file.
  case hotJournal

  static let rows = 1_000

  /// Creates the files of a store.
  ///
  /// - Returns: The writer of `liveWriter`, which must be retained.
  func make(_ name: String, in folder: TemporaryFolder) throws -> Connection? {
    let source = try TemporaryFolder()
    let path = source.file("store")
    switch self {
    case .closed, .emptyWAL:
      try StoreState.fill(path, "WAL").close()
      try folder.copy(path, as: name)
      if self == .emptyWAL { try folder.write([], to: name + "-wal") }
    case .rollback:
      try StoreState.fill(path, "DELETE").close()
      try folder.copy(path, as: name)
    case .wal, .walAndIndex:
      let writer = try StoreState.fill(path, "WAL")
      try folder.copy(path, as: name)
      try folder.copy(path + "-wal", as: name + "-wal")
      if self == .walAndIndex { try folder.copy(path + "-shm", as: name + "-shm") }
      writer.close()
    case .liveWriter:
      return try StoreState.fill(folder.file(name), "WAL")
    case .finishedJournal:
      let writer = try StoreState.fill(path, "PERSIST")
      try folder.copy(path, as: name)
      try folder.copy(path + "-journal", as: name + "-journal")
      writer.close()
    case .hotJournal:
      let writer = try StoreState.fill(path, "DELETE")
      // A tiny cache writes changed pages to the file before the transaction ends.
      try writer.execute("PRAGMA cache_size = 2; BEGIN; UPDATE t SET text = 'x', number = -1")
      try writer.execute("DELETE FROM t WHERE id > 100; INSERT INTO t(text) SELECT text FROM t")
      try folder.copy(path, as: name)
      try folder.copy(path + "-journal", as: name + "-journal")
      try writer.execute("ROLLBACK")
      writer.close()
    }
    return nil
  }

  private static func fill(_ path: String, _ journal: String) throws -> Connection {
    let options = Connection.Options(pragmas: [
      ("journal_mode", journal), ("wal_autocheckpoint", "0"), ("synchronous", "OFF"),
    ])
    let writer = try Connection(path: path, access: .writing, options: options)
    try writer.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, text TEXT)")
    for part in 0..<2 {
      try writer.execute("BEGIN")
      let insert = try writer.statement("INSERT INTO t(number, text) VALUES(?, ?)")
      for row in 0..<rows / 2 {
        try insert.bind(part * rows / 2 + row, at: 1)
        try insert.bind(String(repeating: "text ", count: 20), at: 2)
        _ = try insert.step()
        insert.reset()
      }
      try writer.execute("COMMIT")
      if part == 0 { try writer.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }
    return writer
  }
}
