import Foundation

/// The pages of a database file, read without SQLite, so that no damage prevents reading the rest.
///
/// A page is that of the last transaction: the committed frames of a valid WAL, or the original pages
/// in a hot journal, take precedence over the file, as they do in SQLite. Nothing is written or locked.
///
/// Cost: one read for each page that is requested; a WAL or journal is read once. Memory is a few bytes
/// for each page of the file.
package final class DatabasePages {
  /// The size of a page in bytes, a power of two from 512 to 65,536.
  package let pageSize: Int
  /// The bytes of each page that SQLite uses.
  package let usable: Int
  /// The number of pages.
  package let count: Int
  /// The encoding of text.
  let encoding: String.Encoding
  /// The number of WAL frames that were read in place of pages of the file.
  package var frameCount: Int { isJournal ? 0 : overlay.count }
  /// The number of pages that were read from a hot journal.
  package var journalCount: Int { isJournal ? overlay.count : 0 }

  private let file: Int32
  private let overlayFile: Int32
  private let overlay: [UInt32: Int]
  private let isJournal: Bool

  /// More pages are refused: their bookkeeping would take too much memory.
  private static let largestCount = 1 << 24

  /// Opens a file read-only, and determines its page size.
  ///
  /// The size in the header is used if pages of that size exist; otherwise the one with the most
  /// valid table pages.
  /// - Throws: `SQLITE_CANTOPEN` if the file can't be read; `SQLITE_TOOBIG` if it has more than
  ///   16,777,216 pages; `SQLITE_NOTADB` if it's shorter than a page.
  package init(path: String) throws(SQLiteError) {
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else {
      throw SQLiteError(code: .cantOpen, message: String(cString: strerror(errno)))
    }
    let size = Self.size(of: opened)
    let header = Self.read(opened, at: 0, count: 100) ?? []
    let side = SideFile.find(next: path)
    let pageSize = side?.pageSize ?? Self.pageSize(of: opened, header: header, size: size)
    let overlay = side?.pages ?? [:]
    let inFile = max(size / pageSize, Int(overlay.keys.max() ?? 0))
    let count = side?.pageCount ?? inFile
    guard count > 0, count <= Self.largestCount else {
      close(opened)
      if let side { close(side.file) }
      throw count == 0
        ? SQLiteError(code: .notADatabase, message: "the file is shorter than a page")
        : SQLiteError(
          code: .tooBig,
          message: "the file has \(count) pages, and the limit is \(Self.largestCount)")
    }
    file = opened
    overlayFile = side?.file ?? -1
    isJournal = side?.isJournal ?? false
    self.overlay = overlay
    self.pageSize = pageSize
    self.count = count
    var first = header
    if let offset = overlay[1], let side {
      first = Self.read(side.file, at: offset, count: 100) ?? header
    }
    let isHeader = first.starts(with: Self.magic)
    usable = isHeader && pageSize - Int(first[20]) >= 480 ? pageSize - Int(first[20]) : pageSize
    encoding =
      switch isHeader ? first[59] : 1 {
      case 2: .utf16LittleEndian
      case 3: .utf16BigEndian
      default: .utf8
      }
  }

  deinit {
    close(file)
    if overlayFile >= 0 { close(overlayFile) }
  }

  /// Returns the bytes of a page, numbered from 1; nil if the file doesn't contain all of it.
  package func page(_ number: UInt32) -> [UInt8]? {
    guard number >= 1, number <= count else { return nil }
    if let offset = overlay[number] {
      return Self.read(overlayFile, at: offset, count: pageSize)
    }
    return Self.read(file, at: (Int(number) - 1) * pageSize, count: pageSize)
  }

  private static let magic = Array("SQLite format 3\0".utf8)

  /// Returns the declared page size if it's plausible, and otherwise the most plausible one.
  private static func pageSize(of file: Int32, header: [UInt8], size: Int) -> Int {
    let sizes = (9...16).map { 1 << $0 }
    func score(_ candidate: Int) -> Int {
      (1..<max(2, min(size / candidate, 500))).count { number in
        guard let bytes = read(file, at: number * candidate, count: candidate) else {
          return false
        }
        return TableLeaf(bytes, isFirst: false, usable: candidate)?.isIntact == true
      }
    }
    if header.starts(with: magic) {
      let declared = Int(header[16]) << 8 | Int(header[17])
      let value = declared == 1 ? 65_536 : declared
      if sizes.contains(value), value == 4_096 || size / value < 3 || score(value) > 0 {
        return value
      }
    }
    let best = sizes.map { (size: $0, score: score($0)) }.max { $0.score < $1.score }
    return best.flatMap { $0.score > 0 ? $0.size : nil } ?? 4_096
  }

  static func size(of file: Int32) -> Int {
    var info = stat()
    return fstat(file, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Returns bytes of a file; nil if it's shorter.
  static func read(_ file: Int32, at offset: Int, count: Int) -> [UInt8]? {
    var total = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while total < count {
        let result = pread(
          file, buffer.baseAddress.map { $0 + total }, count - total, off_t(offset + total))
        if result < 0, errno == EINTR { continue }
        guard result > 0 else { break }
        total += result
      }
      initialized = total
    }
    return total == count ? bytes : nil
  }
}

/// The WAL or hot journal of a database file, as the pages that replace those of the file.
struct SideFile {
  let file: Int32
  let isJournal: Bool
  let pageSize: Int
  /// The number of pages of the database; nil if it's unknown.
  let pageCount: Int?
  /// The offset of each page in the file.
  let pages: [UInt32: Int]

  /// Returns the WAL with committed frames, or the hot journal of a file; nil if it has neither.
  static func find(next path: String) -> SideFile? {
    read(path + "-wal", wal) ?? read(path + "-journal", journal)
  }

  private static func read(_ path: String, _ parse: (Int32) -> SideFile?) -> SideFile? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, let side = parse(file) else {
      close(file)
      return nil
    }
    return side
  }

  private static func isPageSize(_ size: Int) -> Bool {
    size >= 512 && size <= 65_536 && size & (size - 1) == 0
  }

  /// Reads frames up to the last commit before the first invalid checksum.
  private static func wal(_ file: Int32) -> SideFile? {
    guard let header = DatabasePages.read(file, at: 0, count: 32),
      header.uint32(at: 0) & ~1 == 0x377F_0682, header.uint32(at: 4) == 3_007_000
    else { return nil }
    let isBigEndian = header[3] & 1 == 1
    let pageSize = Int(header.uint32(at: 8))
    var sum = WALChecksum(isBigEndian: isBigEndian)
    sum.add(header, 0..<24)
    guard isPageSize(pageSize), sum.matches(header, at: 24) else { return nil }
    var (pages, pending): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
    var (offset, pageCount) = (32, Int?.none)
    while let frame = DatabasePages.read(file, at: offset, count: 24 + pageSize) {
      let number = frame.uint32(at: 0)
      guard number > 0, frame[8..<16] == header[16..<24] else { break }
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
    return SideFile(
      file: file, isJournal: false, pageSize: pageSize, pageCount: pageCount, pages: pages)
  }

  /// Reads the original pages of a transaction that wasn't committed.
  private static func journal(_ file: Int32) -> SideFile? {
    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    let size = DatabasePages.size(of: file)
    var (pages, offset): ([UInt32: Int], Int) = ([:], 0)
    var first: (pageSize: Int, count: Int)?
    while let header = DatabasePages.read(file, at: offset, count: 28), header.starts(with: magic) {
      let sector = Int(header.uint32(at: 20))
      let pageSize = first?.pageSize ?? Int(header.uint32(at: 24))
      guard isPageSize(pageSize), (32...65_536).contains(sector) else { break }
      if first == nil { first = (pageSize, Int(header.uint32(at: 16))) }
      let limit = max(0, size - offset - sector) / (pageSize + 8)
      let listed = header.uint32(at: 8)
      let records = listed == .max ? limit : min(Int(listed), limit)
      offset += sector
      for _ in 0..<records {
        guard let record = DatabasePages.read(file, at: offset, count: pageSize + 8) else { break }
        var sum = header.uint32(at: 12)
        for index in stride(from: pageSize - 200, to: 0, by: -200) {
          sum &+= UInt32(record[4 + index])
        }
        guard sum == record.uint32(at: 4 + pageSize) else { break }
        let number = record.uint32(at: 0)
        if number > 0, pages[number] == nil { pages[number] = offset + 4 }
        offset += pageSize + 8
      }
      offset = (offset + sector - 1) / sector * sector
    }
    guard let first, !pages.isEmpty else { return nil }
    return SideFile(
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

extension [UInt8] {
  /// Returns a big-endian integer of two bytes.
  func uint16(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }

  /// Returns a big-endian integer of four bytes.
  func uint32(at offset: Int) -> UInt32 {
    UInt32(uint16(at: offset)) << 16 | UInt32(uint16(at: offset + 2))
  }

  /// Returns SQLite's variable-length integer and the offset after it; nil if it isn't before `end`.
  func varint(at offset: Int, before end: Int) -> (value: UInt64, end: Int)? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard offset + index < end else { return nil }
      let byte = self[offset + index]
      if index == 8 { return (value << 8 | UInt64(byte), offset + 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte & 0x80 == 0 { return (value, offset + index + 1) }
    }
    return nil
  }
}
