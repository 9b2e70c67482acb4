import Foundation

/// The WAL or hot journal of a database file, as the pages that replace those of the file.
struct JournalFile {
  let file: Int32
  let isJournal: Bool
  let pageSize: Int
  /// The number of pages of the database; `nil` if it's unknown.
  let pageCount: Int?
  /// The offset of each page in the file.
  let pages: [UInt32: Int]

  /// Returns the WAL with committed frames, or the hot journal of a file; `nil` if it has neither.
  ///
  /// - Parameters:
  ///   - ignoresWAL: Whether to return only a journal.
  ///   - error: Set to the `errno` if a file can't be read to its end.
  ///   - isCommitted: Set to whether the transaction of a journal was committed, so that it isn't
  ///     hot.
  static func find(
    nextTo path: String, ignoresWAL: Bool, error: inout Int32?, isCommitted: inout Bool
  ) -> JournalFile? {
    if !ignoresWAL, let found = read(path + "-wal", &error, wal) { return found }
    return read(path + "-journal", &error) { file, error in
      isCommitted = isOfCommit(file, &error)
      return isCommitted ? nil : journal(file, &error)
    }
  }

  private static func read(
    _ path: String, _ error: inout Int32?, _ parse: (Int32, inout Int32?) -> JournalFile?
  ) -> JournalFile? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno != ENOENT { error = errno }
      return nil
    }
    var info = stat()
    if fstat(file, &info) != 0 {
      error = errno
    } else if info.st_mode & S_IFMT == S_IFREG, let side = parse(file, &error) {
      return side
    }
    close(file)
    return nil
  }

  private static func isPageSize(_ size: Int) -> Bool {
    size >= 512 && size <= 65_536 && size & (size - 1) == 0
  }

  /// Reads frames up to the last commit before the first invalid checksum, as SQLite does.
  ///
  /// The database then has the number of pages that the commit states, and frames of later pages
  /// are ignored.
  private static func wal(_ file: Int32, _ error: inout Int32?) -> JournalFile? {
    guard let header = DatabasePages.read(file, at: 0, count: 32, error: &error),
      header.uint32(at: 0) & ~1 == 0x377F_0682, header.uint32(at: 4) == 3_007_000
    else { return nil }
    let isBigEndian = header[3] & 1 == 1
    let pageSize = Int(header.uint32(at: 8))
    var sum = WALChecksum(isBigEndian: isBigEndian)
    sum.add(header, 0..<24)
    guard isPageSize(pageSize), sum.matches(header, at: 24) else { return nil }
    var (pages, pending): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
    var (offset, pageCount) = (32, Int?.none)
    while let frame = DatabasePages.read(
      file, at: offset, count: 24 + pageSize, error: &error)
    {
      let number = frame.uint32(at: 0)
      guard number > 0, number <= StoreLimits.pages, frame[8..<16] == header[16..<24]
      else { break }
      sum.add(frame, 0..<8)
      sum.add(frame, 24..<frame.count)
      guard sum.matches(frame, at: 16) else { break }
      pending[number] = offset + 24
      let commit = frame.uint32(at: 4)
      if commit > 0 {
        pages.merge(pending) { $1 }
        pending = [:]
        pageCount = Int(commit)
      }
      offset += frame.count
    }
    guard let pageCount else { return nil }
    return JournalFile(
      file: file, isJournal: false, pageSize: pageSize, pageCount: pageCount, pages: pages)
  }

  private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
  /// The maximum length of a super-journal's path in SQLite.
  private static let longestPath = 512

  /// Returns whether a journal's transaction was committed: SQLite commits one of several files by
  /// deleting the super-journal that their journals name.
  ///
  /// As for SQLite, an empty file doesn't exist.
  private static func isOfCommit(_ file: Int32, _ error: inout Int32?) -> Bool {
    let size = DatabasePages.size(of: file)
    guard size >= 16,
      let end = DatabasePages.read(file, at: size - 16, count: 16, error: &error),
      end.dropFirst(8).elementsEqual(magic)
    else { return false }
    let length = Int(end.uint32(at: 0))
    guard length > 0, length <= min(longestPath, size - 16),
      let path = DatabasePages.read(file, at: size - 16 - length, count: length, error: &error)
    else { return false }
    // SQLite adds the bytes with their signs.
    let sum = path.reduce(Int32(0)) { $0 &+ Int32(Int8(bitPattern: $1)) }
    guard UInt32(bitPattern: sum) == end.uint32(at: 4), path[0] != 0 else { return false }
    var info = stat()
    let result = (path + [0]).withUnsafeBytes { bytes in
      bytes.baseAddress.map { stat($0.assumingMemoryBound(to: CChar.self), &info) }
    }
    return result != 0 || info.st_mode & S_IFMT == S_IFREG && info.st_size == 0
  }

  /// Reads the original pages of a transaction that wasn't committed.
  private static func journal(_ file: Int32, _ error: inout Int32?) -> JournalFile? {
    let size = DatabasePages.size(of: file)
    var (pages, offset): ([UInt32: Int], Int) = ([:], 0)
    var first: (pageSize: Int, count: Int)?
    while let header = DatabasePages.read(file, at: offset, count: 28, error: &error),
      header.starts(with: magic)
    {
      let sector = Int(header.uint32(at: 20))
      let pageSize = first?.pageSize ?? Int(header.uint32(at: 24))
      guard isPageSize(pageSize), (32...65_536).contains(sector) else { break }
      if first == nil { first = (pageSize, Int(header.uint32(at: 16))) }
      let limit = max(0, size - offset - sector) / (pageSize + 8)
      let listed = header.uint32(at: 8)
      let records = listed == .max ? limit : min(Int(listed), limit)
      offset += sector
      for _ in 0..<records {
        guard
          let record = DatabasePages.read(file, at: offset, count: pageSize + 8, error: &error)
        else { break }
        var sum = header.uint32(at: 12)
        for index in stride(from: pageSize - 200, to: 0, by: -200) {
          sum &+= UInt32(record[4 + index])
        }
        guard sum == record.uint32(at: 4 + pageSize) else { break }
        let number = record.uint32(at: 0)
        if number > 0, number <= StoreLimits.pages, pages[number] == nil {
          pages[number] = offset + 4
        }
        offset += pageSize + 8
      }
      offset = (offset + sector - 1) / sector * sector
    }
    guard let first, !pages.isEmpty else { return nil }
    return JournalFile(
      file: file, isJournal: true, pageSize: first.pageSize,
      pageCount: first.count > 0 ? first.count : nil, pages: pages)
  }
}

/// The cumulative checksum of a WAL.
private struct WALChecksum {
  let isBigEndian: Bool
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
    var (one, two) = (first, second)
    bytes.withUnsafeBytes { buffer in
      for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
        let left = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let right = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
        one &+= (isBigEndian ? left.bigEndian : left.littleEndian) &+ two
        two &+= (isBigEndian ? right.bigEndian : right.littleEndian) &+ one
      }
    }
    (first, second) = (one, two)
  }

  func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
    bytes.uint32(at: offset) == first && bytes.uint32(at: offset + 4) == second
  }
}
