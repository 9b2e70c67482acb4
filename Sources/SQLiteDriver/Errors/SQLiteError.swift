import CSQLite

/// What SQLite refused, with the text it refused it for.
package struct SQLiteError: Error, Sendable, Hashable {
  /// The extended result code.
  package let code: ResultCode
  /// SQLite's message, or ours where SQLite was not asked.
  package let message: String
  /// The statement's text, when the error belongs to one.
  ///
  /// Bound values are never part of it.
  package let sql: String?
  /// Where in `sql` the fault lies, in UTF-8 bytes; nil when SQLite names no place.
  package let offset: Int?

  package init(code: ResultCode, message: String, sql: String? = nil, offset: Int? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
    self.offset = offset
  }

  /// Reads the last error of a handle.
  ///
  /// Call it before any other call on that handle.
  init(handle: OpaquePointer?, code: Int32, sql: String? = nil) {
    var message = ResultCode(rawValue: code).text
    var offset: Int?
    if let handle, sqlite3_errcode(handle) & 0xFF == code & 0xFF {
      message = String(cString: sqlite3_errmsg(handle))
      let position = sqlite3_error_offset(handle)
      offset = sql == nil || position < 0 ? nil : Int(position)
    }
    self.init(code: ResultCode(rawValue: code), message: message, sql: sql, offset: offset)
  }
}

extension SQLiteError: CustomStringConvertible {
  /// `SQLITE_ERROR: no such table: X`, then the text, with a caret under the place if it is known.
  package var description: String {
    guard let sql else { return "\(code.name): \(message)" }
    return "\(code.name): \(message)\n\(excerpt ?? sql)"
  }

  /// The line of the text that holds the fault and a caret under it; nil without a place.
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
