import CSQLite

/// A value as SQLite stores it, copied out of or into a statement.
///
/// Rows on the hot path are read by `Statement`'s typed accessors instead; this type is for binds
/// that are kept, for functions and for small housekeeping reads.
package enum SQLiteValue: Sendable, Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

extension SQLiteValue: CustomStringConvertible {
  /// The value as Apple's SQLDebug prints a bind: `18`, `"s"`, `(null)`; bytes as `<0aff>`.
  ///
  /// Nothing is escaped and nothing is cut short.
  package var description: String {
    switch self {
    case .null: "(null)"
    case .integer(let value): String(value)
    case .real(let value): String(value)
    case .text(let value): "\"\(value)\""
    case .blob(let bytes): SQLiteValue.hexadecimal(bytes)
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var characters: [UInt8] = [UInt8(ascii: "<")]
    characters.reserveCapacity(bytes.count * 2 + 2)
    for byte in bytes {
      characters.append(digits[Int(byte >> 4)])
      characters.append(digits[Int(byte & 15)])
    }
    characters.append(UInt8(ascii: ">"))
    return String(decoding: characters, as: UTF8.self)
  }
}

/// The storage class of one value of a row, whatever the column declares.
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
