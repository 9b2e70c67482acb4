import CSQLite

/// The storage class of one value of a row: what the file holds, whatever the column declares.
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
