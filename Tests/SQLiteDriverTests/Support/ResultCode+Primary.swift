import SQLiteDriver

extension ResultCode {
  /// `SQLITE_READONLY`.
  static let readOnly = ResultCode(rawValue: 8)
  /// `SQLITE_CONSTRAINT`.
  static let constraint = ResultCode(rawValue: 19)
  /// `SQLITE_RANGE`.
  static let range = ResultCode(rawValue: 25)
}
