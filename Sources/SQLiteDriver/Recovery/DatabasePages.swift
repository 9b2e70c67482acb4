import Foundation

/// The pages of a database file, read without SQLite, so that corrupt ones don't prevent reading
/// the rest.
///
/// A page is that of the last transaction: the committed frames of a valid WAL, or the original
/// pages in a hot journal, take precedence over the file, as they do in SQLite. Nothing is written
/// or locked.
///
/// **Cost:** one read for each page that is requested; a WAL or journal is read once. Memory is a
/// few bytes for each page of the file.
package final class DatabasePages {
  /// The size of a page in bytes, a power of two from 512 to 65,536.
  package let pageSize: Int
  /// The bytes of each page that SQLite uses.
  package private(set) var usable: Int
  /// The number of pages.
  package let count: Int
  /// The encoding of text.
  private(set) var encoding = String.Encoding.utf8
  /// The number of WAL frames that were read instead of pages of the file.
  package var frameCount: Int { isJournal ? 0 : overlay.count }
  /// The number of pages that were read from a hot journal.
  package var journalCount: Int { isJournal ? overlay.count : 0 }
  /// The pages that couldn't be read at least once, each with the `errno`.
  package private(set) var unreadable: [UInt32: Int32] = [:]
  /// The `errno` of the WAL or journal if it can't be read to its end; `nil` if it can.
  package let overlayError: Int32?
  /// Whether a journal isn't read because the super-journal that it names doesn't exist: SQLite
  /// commits a transaction of several files by deleting it.
  package let hasCommittedJournal: Bool

  private let file: Int32
  private let overlayFile: Int32
  private let overlay: [UInt32: Int]
  private let isJournal: Bool

  /// Opens a file read-only, and determines its page size.
  ///
  /// The size in the header is used if pages of that size exist; otherwise the one with the most
  /// valid table pages.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - ignoresWAL: Whether to read the pages of the file even if a WAL replaces them.
  /// - Throws: `SQLITE_CANTOPEN` if the file can't be read; `SQLITE_TOOBIG` if it has more pages
  ///   than `StoreLimits.pages`; `SQLITE_NOTADB` if it's shorter than a page.
  package init(path: String, ignoresWAL: Bool = false) throws(SQLiteError) {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else {
      throw SQLiteError(code: .cantOpen, message: String(cString: strerror(errno)))
    }
    let size = Self.size(of: opened)
    let header = Self.read(opened, at: 0, count: 100) ?? []
    var error: Int32?
    var isCommitted = false
    let side = JournalFile.find(
      nextTo: path, ignoresWAL: ignoresWAL, error: &error, isCommitted: &isCommitted)
    (overlayError, hasCommittedJournal) = (error, isCommitted)
    let pageSize = side?.pageSize ?? Self.pageSize(of: opened, header: header, size: size)
    let overlay = side?.pages ?? [:]
    let inFile = max(size / pageSize, Int(overlay.keys.max() ?? 0))
    // Unused pages at the end may be in no file, but a WAL or journal can state any number.
    let plausible = max(8 * inFile, Int(StoreLimits.restoredSize) / pageSize)
    let count = side?.pageCount.flatMap { $0 <= plausible ? $0 : nil } ?? inFile
    guard count > 0, count <= StoreLimits.pages else {
      close(opened)
      if let side { close(side.file) }
      throw count == 0
        ? SQLiteError(code: .notADatabase, message: "the file is shorter than a page")
        : SQLiteError(
          code: .tooBig,
          message: "the file has \(count) pages, and the limit is \(StoreLimits.pages)")
    }
    file = opened
    overlayFile = side?.file ?? -1
    isJournal = side?.isJournal ?? false
    self.overlay = overlay
    self.pageSize = pageSize
    self.count = count
    usable = pageSize
    let sample = PageSample(count: count) { page($0) }
    guard let first = page(1), first.starts(with: Self.magic) else { return }
    if sample.characterWidth ?? Int(min(first[59], 2)) == 2 {
      encoding = first[59] == 3 ? .utf16BigEndian : .utf16LittleEndian
    }
    // Core Data reserves no bytes; a corrupt header can state any number.
    if first[20] > 0 {
      let declared = pageSize - Int(first[20])
      if declared >= 480, sample.intactLeaves(usable: declared) > 0 { usable = declared }
    }
  }

  deinit {
    close(file)
    if overlayFile >= 0 { close(overlayFile) }
  }

  /// Returns whether a page is read from a WAL in place of the file.
  package func isInWAL(_ number: UInt32) -> Bool {
    !isJournal && overlay[number] != nil
  }

  /// What the first page states about the database.
  package struct Header {
    /// The number of changes of the first page.
    package let changeCounter: Int
    /// The number of pages.
    package let pageCount: Int
  }

  /// What the first page states; `nil` if the two copies of its change counter differ, so that it's
  /// corrupt or out of date.
  package var header: Header? {
    guard let first = page(1), first.starts(with: Self.magic),
      first.uint32(at: 24) == first.uint32(at: 92)
    else { return nil }
    return Header(
      changeCounter: Int(first.uint32(at: 24)), pageCount: Int(first.uint32(at: 28)))
  }

  /// Returns the bytes of a page, numbered from 1; `nil` if the file doesn't contain all of it, or
  /// if it can't be read, which `unreadable` notes.
  package func page(_ number: UInt32) -> [UInt8]? {
    guard number >= 1, number <= count else { return nil }
    let offset = overlay[number]
    var error: Int32?
    let bytes = Self.read(
      offset == nil ? file : overlayFile, at: offset ?? (Int(number) - 1) * pageSize,
      count: pageSize, error: &error)
    if let error { unreadable[number] = error }
    return bytes
  }

  private static let magic = Array("SQLite format 3\0".utf8)

  /// Returns the declared page size if it's plausible, and otherwise the most plausible one.
  private static func pageSize(of file: Int32, header: [UInt8], size: Int) -> Int {
    let sizes = (9...16).map { 1 << $0 }
    func score(_ candidate: Int) -> Int {
      PageSample(count: size / candidate) { number in
        read(file, at: (Int(number) - 1) * candidate, count: candidate)
      }.intactLeaves(usable: candidate)
    }
    var declared: Int?
    if header.starts(with: magic) {
      let value = Int(header[16]) << 8 | Int(header[17])
      declared = value == 1 ? 65_536 : value
    }
    if let declared, sizes.contains(declared), size / declared < 3 || score(declared) > 0 {
      return declared
    }
    let best = sizes.map { (size: $0, score: score($0)) }.max { $0.score < $1.score }
    if let best, best.score > 0 { return best.size }
    return declared.flatMap { sizes.contains($0) ? $0 : nil } ?? 4_096
  }

  static func size(of file: Int32) -> Int {
    var info = stat()
    return fstat(file, &info) == 0 ? Int(info.st_size) : 0
  }

  /// Returns bytes of a file; `nil` if it's shorter, or if they can't be read.
  static func read(_ file: Int32, at offset: Int, count: Int) -> [UInt8]? {
    var error: Int32?
    return read(file, at: offset, count: count, error: &error)
  }

  /// Returns bytes of a file; `nil` if it's shorter, or if they can't be read.
  ///
  /// - Parameter error: Set to the `errno` if they can't be read.
  static func read(
    _ file: Int32, at offset: Int, count: Int, error: inout Int32?
  ) -> [UInt8]? {
    var total = 0
    var number: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while total < count {
        let result = pread(
          file, buffer.baseAddress.map { $0 + total }, count - total, off_t(offset + total))
        if result < 0, errno == EINTR { continue }
        if result < 0 { number = errno }
        guard result > 0 else { break }
        total += result
      }
      initialized = total
    }
    if let number { error = number }
    return total == count ? bytes : nil
  }
}

/// The first pages of a file, by which a corrupt header is checked.
private struct PageSample {
  private let pages: [[UInt8]]

  private static let largestCount = 500

  init(count: Int, read: (UInt32) -> [UInt8]?) {
    pages = (0..<min(count, Self.largestCount)).compactMap { read(UInt32($0) + 1) }
  }

  /// Returns the number of valid leaf pages of tables, excluding the first page of a file.
  func intactLeaves(usable: Int) -> Int {
    pages.count { page in
      TableLeaf(page, isFirst: false, usable: usable)?.isIntact == true
    }
  }

  /// The width of the characters in the schema's statements, in bytes; `nil` if none is found.
  var characterWidth: Int? {
    let words = Array("CREATE TABLE".utf8)
    for page in pages {
      for (width, text) in [(1, words), (2, Array(words.flatMap { [$0, 0] }.dropLast()))]
      where Self.contains(text, in: page) { return width }
    }
    return nil
  }

  private static func contains(_ text: [UInt8], in page: [UInt8]) -> Bool {
    page.withUnsafeBytes { page in
      guard let first = text.first, var rest = page.baseAddress else { return false }
      let end = rest + page.count
      while let found = memchr(rest, Int32(first), end - rest),
        end - UnsafeRawPointer(found) >= text.count
      {
        if memcmp(found, text, text.count) == 0 { return true }
        rest = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }
}

extension [UInt8] {
  /// Returns a big-endian integer of two bytes.
  func uint16(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }

  /// Returns a big-endian integer of four bytes.
  func uint32(at offset: Int) -> UInt32 {
    UInt32(uint16(at: offset)) << 16 | UInt32(uint16(at: offset + 2))
  }

  /// Returns SQLite's variable-length integer and the offset after it; `nil` if it isn't before
  /// `end`.
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
