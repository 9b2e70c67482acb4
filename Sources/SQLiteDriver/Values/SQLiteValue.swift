import CSQLite

/// A SQLite value, copied to or from a statement.
///
/// Performance-critical code uses the typed accessors of `Statement` instead. This type is for
/// stored bound values, for functions, and for small housekeeping queries.
package enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

extension SQLiteValue: CustomStringConvertible {
  /// The value as Apple's SQLDebug prints a bound value: `18`, `"s"`, `(null)`, or `<0aff>` for
  /// bytes.
  ///
  /// It isn't escaped or truncated.
  package var description: String {
    switch self {
    case .null: "(null)"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let value): "\"\(value)\""
    case .blob(let bytes): "<\(SQLiteValue.hexadecimal(bytes))>"
    }
  }

  /// Returns two digits for each byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var characters: [UInt8] = []
    characters.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      characters.append(digits[Int(byte >> 4)])
      characters.append(digits[Int(byte & 15)])
    }
    return String(decoding: characters, as: UTF8.self)
  }
}

/// The storage class of a value in a row, independent of the column's declared type.
package enum ColumnType: Sendable {
  case integer
  case real
  case text
  case blob
  case null

  init(code: Int32) {
    switch code {
    case SQLITE_INTEGER: self = .integer
    case SQLITE_FLOAT: self = .real
    case SQLITE_TEXT: self = .text
    case SQLITE_BLOB: self = .blob
    default: self = .null
    }
  }
}
