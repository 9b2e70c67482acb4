import CSQLite
import Foundation

/// An error of SQLite, with the SQL that caused it.
package struct SQLiteError: Error, Sendable, Hashable {
  /// The extended result code.
  package let code: ResultCode
  /// SQLite's message, or this package's if SQLite wasn't called.
  package let message: String
  /// The SQL, if the error belongs to a statement.
  ///
  /// It never contains bound values.
  package let sql: String?
  /// The position of the error in `sql`, in UTF-8 bytes, or `nil` if SQLite reports none.
  package let offset: Int?

  package init(code: ResultCode, message: String, sql: String? = nil, offset: Int? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
    self.offset = offset
  }

  /// Creates an error from the last error of a handle.
  ///
  /// Call this initializer before any other call with that handle.
  init(handle: OpaquePointer?, code: Int32, sql: String? = nil) {
    // To SQLite, a page that the file system can't read is corrupt, too.
    let isUnread = code & 0xFF == SQLITE_CORRUPT && handle.map(SQLiteError.hasFailedToRead) == true
    // To SQLite, a reference to a page beyond the largest possible number is a full disk.
    let isBeyond = code & 0xFF == SQLITE_FULL && handle.map(SQLiteError.writesNoFile) == true
    let code =
      isUnread ? ResultCode.unreadPage.rawValue : isBeyond ? SQLITE_CORRUPT : code
    var message = ResultCode(rawValue: code).text
    var offset: Int?
    if let handle, sqlite3_errcode(handle) & 0xFF == code & 0xFF {
      message = String(cString: sqlite3_errmsg(handle))
      let position = sqlite3_error_offset(handle)
      offset = sql == nil || position < 0 ? nil : Int(position)
    }
    self.init(code: ResultCode(rawValue: code), message: message, sql: sql, offset: offset)
  }

  /// Whether the SQL is nested more deeply than SQLite can parse, which has no code of its own.
  package var isOfNesting: Bool {
    code == .error
      && (message == "parser stack overflow" || message.hasPrefix("Expression tree is too large"))
  }
}

extension SQLiteError {
  /// Returns whether the file system has failed to read the database or its WAL.
  ///
  /// SQLite keeps the number of a file's last error.
  private static func hasFailedToRead(_ handle: OpaquePointer) -> Bool {
    var number: Int32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number)
    if isOfReading(number) { return true }
    var log: UnsafeMutablePointer<sqlite3_file>?
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
    guard let log, let methods = log.pointee.pMethods else { return false }
    number = 0
    _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &number)
    return isOfReading(number)
  }

  /// Returns whether a connection can't fill a disk, because it writes neither the database nor
  /// temporary files.
  private static func writesNoFile(_ handle: OpaquePointer) -> Bool {
    var system: UnsafeMutablePointer<sqlite3_vfs>?
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_VFS_POINTER, &system)
    guard let name = system?.pointee.zName else { return false }
    return String(cString: name) == ReadOnlyVFS.name
  }

  /// Whether an error number is one that SQLite reports as a corrupt file when it reads.
  private static func isOfReading(_ number: Int32) -> Bool {
    [EIO, ENXIO, ERANGE].contains(number)
  }
}

extension SQLiteError: CustomStringConvertible {
  /// The error, such as `SQLITE_ERROR: no such table: X`, and the SQL, with a caret below the
  /// position if it's known.
  package var description: String {
    guard let sql else { return "\(code.name): \(message)" }
    return "\(code.name): \(message)\n\(excerpt ?? sql)"
  }

  /// The line of the SQL that contains the error and a caret below it, or `nil` if the position is
  /// unknown.
  package var excerpt: String? {
    guard let sql, let offset, offset <= sql.utf8.count else { return nil }
    let newline = UInt8(ascii: "\n")
    let bytes = Array(sql.utf8)
    let start = bytes[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
    let end = bytes[offset...].firstIndex(of: newline) ?? bytes.count
    let before = String(decoding: bytes[start..<offset], as: UTF8.self)
    let line = String(decoding: bytes[start..<end], as: UTF8.self)
    return line + "\n" + String(before.map { $0 == "\t" ? "\t" : " " }) + "^"
  }
}

/// A SQLite result code, usually an extended one.
///
/// The constants below are primary codes unless their name is more specific. Compare with
/// `error.code.primary` to match, for example, any kind of busy error. See
/// <https://www.sqlite.org/rescode.html>.
package struct ResultCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The primary code of an extended one: its low eight bits.
  package var primary: ResultCode {
    ResultCode(rawValue: rawValue & 0xFF)
  }

  /// Whether there's no space on the disk; for the index of a WAL, SQLite reports an I/O error.
  package var isOutOfSpace: Bool {
    primary == .full || rawValue == SQLITE_IOERR | (19 << 8)
  }

  /// Whether a file is corrupt, or isn't a database.
  package var isOfCorruptFile: Bool {
    primary == .corrupt || primary == .notADatabase
  }

  /// Whether a file couldn't be read.
  package var isOfReading: Bool {
    [ResultCode.unreadPage.rawValue, SQLITE_IOERR | (1 << 8)].contains(rawValue)
  }

  /// SQLite's short description, such as `database is locked`.
  package var text: String {
    String(cString: sqlite3_errstr(rawValue))
  }
}

extension ResultCode {
  package static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// A function implemented in Swift threw an error.
  ///
  /// An extended code of this package, above those of SQLite.
  package static let functionFailed = ResultCode(rawValue: SQLITE_ERROR | 0x70 << 8)
  package static let permission = ResultCode(rawValue: SQLITE_PERM)
  package static let busy = ResultCode(rawValue: SQLITE_BUSY)
  package static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  package static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  package static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  package static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  package static let full = ResultCode(rawValue: SQLITE_FULL)
  package static let cantOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  package static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// The authorizer rejected the statement.
  package static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  /// The file isn't a SQLite database.
  ///
  /// Encrypted databases have the same error.
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// Extended code: the file system couldn't read a page, which SQLite takes for corruption.
  package static let unreadPage = ResultCode(rawValue: SQLITE_IOERR | (33 << 8))
  /// Extended code: a file can't be created or written, although the disk isn't full.
  package static let writeFailed = ResultCode(rawValue: SQLITE_IOERR | (3 << 8))
  /// Extended code: the path refers to a folder.
  package static let cantOpenIsDirectory = ResultCode(rawValue: SQLITE_CANTOPEN | (2 << 8))
  /// Extended code: a unique index already contains the values.
  package static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
}

extension ResultCode: CustomStringConvertible {
  /// SQLite's name of the code, such as `SQLITE_BUSY_SNAPSHOT`.
  ///
  /// For an unknown code, this is its primary name and its number.
  package var name: String {
    if let name = ResultCode.names[rawValue] { return name }
    guard let name = ResultCode.names[primary.rawValue] else { return "SQLITE_\(rawValue)" }
    return "\(name) (\(rawValue))"
  }

  package var description: String { name }

  private static let names: [Int32: String] = [
    0: "SQLITE_OK",
    1: "SQLITE_ERROR",
    2: "SQLITE_INTERNAL",
    3: "SQLITE_PERM",
    4: "SQLITE_ABORT",
    5: "SQLITE_BUSY",
    6: "SQLITE_LOCKED",
    7: "SQLITE_NOMEM",
    8: "SQLITE_READONLY",
    9: "SQLITE_INTERRUPT",
    10: "SQLITE_IOERR",
    11: "SQLITE_CORRUPT",
    12: "SQLITE_NOTFOUND",
    13: "SQLITE_FULL",
    14: "SQLITE_CANTOPEN",
    15: "SQLITE_PROTOCOL",
    16: "SQLITE_EMPTY",
    17: "SQLITE_SCHEMA",
    18: "SQLITE_TOOBIG",
    19: "SQLITE_CONSTRAINT",
    20: "SQLITE_MISMATCH",
    21: "SQLITE_MISUSE",
    22: "SQLITE_NOLFS",
    23: "SQLITE_AUTH",
    24: "SQLITE_FORMAT",
    25: "SQLITE_RANGE",
    26: "SQLITE_NOTADB",
    27: "SQLITE_NOTICE",
    28: "SQLITE_WARNING",
    100: "SQLITE_ROW",
    101: "SQLITE_DONE",
    257: "SQLITE_ERROR_MISSING_COLLSEQ",
    513: "SQLITE_ERROR_RETRY",
    769: "SQLITE_ERROR_SNAPSHOT",
    28673: "SQLITE_ERROR",
    266: "SQLITE_IOERR_READ",
    522: "SQLITE_IOERR_SHORT_READ",
    778: "SQLITE_IOERR_WRITE",
    1034: "SQLITE_IOERR_FSYNC",
    1290: "SQLITE_IOERR_DIR_FSYNC",
    1546: "SQLITE_IOERR_TRUNCATE",
    1802: "SQLITE_IOERR_FSTAT",
    2058: "SQLITE_IOERR_UNLOCK",
    2314: "SQLITE_IOERR_RDLOCK",
    2570: "SQLITE_IOERR_DELETE",
    2826: "SQLITE_IOERR_BLOCKED",
    3082: "SQLITE_IOERR_NOMEM",
    3338: "SQLITE_IOERR_ACCESS",
    3594: "SQLITE_IOERR_CHECKRESERVEDLOCK",
    3850: "SQLITE_IOERR_LOCK",
    4106: "SQLITE_IOERR_CLOSE",
    4362: "SQLITE_IOERR_DIR_CLOSE",
    4618: "SQLITE_IOERR_SHMOPEN",
    4874: "SQLITE_IOERR_SHMSIZE",
    5130: "SQLITE_IOERR_SHMLOCK",
    5386: "SQLITE_IOERR_SHMMAP",
    5642: "SQLITE_IOERR_SEEK",
    5898: "SQLITE_IOERR_DELETE_NOENT",
    6154: "SQLITE_IOERR_MMAP",
    6410: "SQLITE_IOERR_GETTEMPPATH",
    6666: "SQLITE_IOERR_CONVPATH",
    6922: "SQLITE_IOERR_VNODE",
    7178: "SQLITE_IOERR_AUTH",
    7434: "SQLITE_IOERR_BEGIN_ATOMIC",
    7690: "SQLITE_IOERR_COMMIT_ATOMIC",
    7946: "SQLITE_IOERR_ROLLBACK_ATOMIC",
    8202: "SQLITE_IOERR_DATA",
    8458: "SQLITE_IOERR_CORRUPTFS",
    262: "SQLITE_LOCKED_SHAREDCACHE",
    518: "SQLITE_LOCKED_VTAB",
    261: "SQLITE_BUSY_RECOVERY",
    517: "SQLITE_BUSY_SNAPSHOT",
    773: "SQLITE_BUSY_TIMEOUT",
    270: "SQLITE_CANTOPEN_NOTEMPDIR",
    526: "SQLITE_CANTOPEN_ISDIR",
    782: "SQLITE_CANTOPEN_FULLPATH",
    1038: "SQLITE_CANTOPEN_CONVPATH",
    1294: "SQLITE_CANTOPEN_DIRTYWAL",
    1550: "SQLITE_CANTOPEN_SYMLINK",
    267: "SQLITE_CORRUPT_VTAB",
    523: "SQLITE_CORRUPT_SEQUENCE",
    779: "SQLITE_CORRUPT_INDEX",
    264: "SQLITE_READONLY_RECOVERY",
    520: "SQLITE_READONLY_CANTLOCK",
    776: "SQLITE_READONLY_ROLLBACK",
    1032: "SQLITE_READONLY_DBMOVED",
    1288: "SQLITE_READONLY_CANTINIT",
    1544: "SQLITE_READONLY_DIRECTORY",
    516: "SQLITE_ABORT_ROLLBACK",
    275: "SQLITE_CONSTRAINT_CHECK",
    531: "SQLITE_CONSTRAINT_COMMITHOOK",
    787: "SQLITE_CONSTRAINT_FOREIGNKEY",
    1043: "SQLITE_CONSTRAINT_FUNCTION",
    1299: "SQLITE_CONSTRAINT_NOTNULL",
    1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
    1811: "SQLITE_CONSTRAINT_TRIGGER",
    2067: "SQLITE_CONSTRAINT_UNIQUE",
    2323: "SQLITE_CONSTRAINT_VTAB",
    2579: "SQLITE_CONSTRAINT_ROWID",
    2835: "SQLITE_CONSTRAINT_PINNED",
    3091: "SQLITE_CONSTRAINT_DATATYPE",
    283: "SQLITE_NOTICE_RECOVER_WAL",
    539: "SQLITE_NOTICE_RECOVER_ROLLBACK",
    284: "SQLITE_WARNING_AUTOINDEX",
    279: "SQLITE_AUTH_USER",
    256: "SQLITE_OK_LOAD_PERMANENTLY",
    512: "SQLITE_OK_SYMLINK",
  ]
}
