import CSQLite

// Columns count from 0. The accessors read the row the last `step()` stopped at; without one, and
// for a column that is not there, they give 0, nothing or null. Each is one or two calls of C and
// copies nothing unless it says so.
extension Statement {
  /// Columns of the result; 0 for a statement that returns no rows.
  package var columnCount: Int32 {
    sqlite3_column_count(handle)
  }

  /// The name of a result column: its alias, or what the text says.
  package func columnName(_ column: Int32) -> String {
    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
  }

  /// What the row holds there.
  ///
  /// Ask before any accessor that converts.
  package func type(_ column: Int32) -> ColumnType {
    ColumnType(code: sqlite3_column_type(handle, column))
  }

  /// Whether the row holds NULL there.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// The value as an integer, converted as SQLite's CAST does.
  package func int64(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  /// The value as a floating-point number, converted as SQLite's CAST does.
  package func double(_ column: Int32) -> Double {
    sqlite3_column_double(handle, column)
  }

  /// SQLite's own memory of a text, as UTF-8 without an end mark.
  ///
  /// Valid until the next `step()`, `reset()` or conversion of the same column. Empty for NULL.
  package func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = sqlite3_column_text(handle, column)
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// SQLite's own memory of a blob, or of a text's bytes.
  ///
  /// Valid until the next `step()`, `reset()` or conversion of the same column. Empty for NULL and
  /// for a value of no bytes; `type(_:)` tells them apart.
  package func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// A copy of a text.
  ///
  /// Bytes that are no UTF-8 become U+FFFD.
  package func string(_ column: Int32) -> String {
    String(decoding: text(column), as: UTF8.self)
  }

  /// A copy of whatever the row holds there.
  package func value(_ column: Int32) -> SQLiteValue {
    switch type(column) {
    case .null: .null
    case .integer: .integer(int64(column))
    case .real: .real(double(column))
    case .text: .text(string(column))
    case .blob: .blob([UInt8](blob(column)))
    }
  }
}
