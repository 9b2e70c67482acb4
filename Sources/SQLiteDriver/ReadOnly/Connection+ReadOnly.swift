import CSQLite
import Foundation

extension Connection {
  /// Whether a temporary copy is read, because the store has a transaction to roll back.
  ///
  /// Inform the user if it's `true`.
  package var isTemporaryCopy: Bool {
    copy != nil
  }

  /// Opens a file read-only, without changes to its folder, and reads its first page.
  ///
  /// Waits until the last write is two clock ticks old (8 ms on most systems), so that the next one
  /// is detectable, and restarts if a writer intervenes. If the store is written to continuously,
  /// this fails as busy after 0.3 s of waiting or six attempts.
  static func openReadOnly(
    at path: String, sharing copy: TemporaryCopy?
  ) throws(SQLiteError) -> OpenedFile {
    var (waited, openings) = (Int64(0), 0)
    while waited < maximumWait, openings < maximumOpenings {
      let inspection = try StoreFileInspection(path: path)
      let wait = inspection.settlingTime
      guard wait == 0 else {
        waited += wait
        usleep(UInt32(wait / 1_000) + 1)
        continue
      }
      openings += 1
      do throws(SQLiteError) {
        let opened = try openFiles(inspection, sharing: copy)
        if !inspection.isStale { return opened }
        sqlite3_close_v2(opened.handle)
      } catch {
        // A half-written state can cause any error; a persistent one is real.
        if !inspection.isStale { throw error }
      }
    }
    throw SQLiteError(code: .busy, message: "\(path) is being written to; try again")
  }

  /// The maximum time to wait, in nanoseconds.
  private static let maximumWait: Int64 = 300_000_000
  /// The maximum number of attempts, each of which can copy the entire file.
  private static let maximumOpenings = 6

  /// Opens the inspected files and reads the first page.
  ///
  /// `openReadOnly(at:sharing:)` ensures that they haven't changed.
  static func openFiles(
    _ inspection: StoreFileInspection, sharing shared: TemporaryCopy? = nil
  ) throws(SQLiteError) -> OpenedFile {
    try ReadOnlyVFS.register()
    var copy = shared?.source == inspection ? shared : nil
    if inspection.method == .temporaryCopy, copy == nil { copy = try TemporaryCopy(of: inspection) }
    let isImmutable = inspection.method != .writeAheadLog
    let name = uri(copy?.path ?? inspection.path) + (isImmutable ? "&immutable=1" : "")
    let handle = try openFile(
      name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, fileSystem: ReadOnlyVFS.name)
    do {
      try harden(handle, isReadOnly: true)
      if !isImmutable { try run("PRAGMA locking_mode = EXCLUSIVE", on: handle) }
      // Sorts and temporary tables don't create files either.
      try run("PRAGMA temp_store = MEMORY", on: handle)
      try run("PRAGMA schema_version", on: handle)
    } catch {
      sqlite3_close_v2(handle)
      throw error
    }
    return OpenedFile(handle: handle, inspection: inspection, copy: copy)
  }

  /// Returns the path as a percent-encoded URI with its first parameter.
  private static func uri(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes = Array("file://".utf8)
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
        UInt8(ascii: "-"), UInt8(ascii: "_"):
        bytes.append(byte)
      default:
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self) + "?mode=ro"
  }
}
