import CSQLite

/// The first hundred bytes of a database file.
///
/// See <https://www.sqlite.org/fileformat.html#the_database_header>.
struct DatabaseHeader {
  static let length = 100
  private static let magic = Array("SQLite format 3\0".utf8)

  private let bytes: [UInt8]

  init(path: String) throws(SQLiteError) {
    let file = try DatabaseFile(path: path)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: DatabaseHeader.length, alignment: 8)
    defer { buffer.deallocate() }
    let count = try file.read(into: buffer, at: 0)
    bytes = [UInt8](buffer[..<count])
  }

  /// In bytes; nil when the header does not name a possible one.
  private var pageSize: Int64? {
    let stored = Int64(bytes[16]) << 8 | Int64(bytes[17])
    let size = stored == 1 ? 65_536 : stored
    return size >= 512 && size & (size - 1) == 0 ? size : nil
  }

  /// Pages, as the last writer noted; nil when a writer older than SQLite 3.7 came after.
  private var pageCount: Int64? {
    let count = number(at: 28)
    return count > 0 && number(at: 24) == number(at: 92) ? count : nil
  }

  private func number(at offset: Int) -> Int64 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) }
  }

  /// What the header says against the file, which lies beside the inspected neighbours.
  ///
  /// With a log or a journal to be applied, the size is not yet what it should be.
  func problem(path: String, _ inspection: StoreFileInspection) -> StoreFileProblem? {
    guard bytes.starts(with: DatabaseHeader.magic) else {
      let text = String(decoding: bytes, as: UTF8.self)
      return text.hasPrefix("<?xml") && text.contains("<!DOCTYPE database")
        ? .documentStore(path: path) : .notADatabase(path: path)
    }
    let size = inspection.database.size
    guard bytes.count == DatabaseHeader.length else {
      let expected = Int64(DatabaseHeader.length)
      return .truncated(path: path, expectedBytes: expected, foundBytes: size)
    }
    guard let pageSize else {
      return .corrupt(path: path, reason: "its header names an impossible page size")
    }
    if inspection.method == .immutable, let pageCount, pageCount * pageSize > size {
      return .truncated(path: path, expectedBytes: pageCount * pageSize, foundBytes: size)
    }
    return nil
  }
}
