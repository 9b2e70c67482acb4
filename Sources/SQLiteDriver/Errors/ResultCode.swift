import CSQLite

/// One of SQLite's result codes, usually an extended one.
///
/// The constants below are primary codes unless their name says more; compare with
/// `error.code.primary` where any kind of, say, busy will do.
/// See <https://www.sqlite.org/rescode.html>.
package struct ResultCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// The general code an extended one refines: its low eight bits.
  package var primary: ResultCode {
    ResultCode(rawValue: rawValue & 0xFF)
  }

  /// SQLite's own short English text, as in `database is locked`.
  package var text: String {
    String(cString: sqlite3_errstr(rawValue))
  }
}

extension ResultCode {
  package static let error = ResultCode(rawValue: SQLITE_ERROR)
  /// A function that is written in Swift threw an error.
  ///
  /// An extended code of this package, above those of SQLite.
  package static let functionFailed = ResultCode(rawValue: SQLITE_ERROR | 0x70 << 8)
  package static let permission = ResultCode(rawValue: SQLITE_PERM)
  package static let busy = ResultCode(rawValue: SQLITE_BUSY)
  package static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  package static let interrupt = ResultCode(rawValue: SQLITE_INTERRUPT)
  package static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
  package static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  package static let full = ResultCode(rawValue: SQLITE_FULL)
  package static let cantOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  package static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  package static let misuse = ResultCode(rawValue: SQLITE_MISUSE)
  /// The authorizer refused the statement.
  package static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  /// The file is no SQLite database.
  ///
  /// An encrypted one looks the same.
  package static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// Extended: the path names a folder.
  package static let cantOpenIsDirectory = ResultCode(rawValue: SQLITE_CANTOPEN | (2 << 8))
  /// Extended: a unique index has such a row already.
  package static let constraintUnique = ResultCode(rawValue: SQLITE_CONSTRAINT | (8 << 8))
}
