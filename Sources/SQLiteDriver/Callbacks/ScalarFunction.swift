import CSQLite

/// A Swift closure that SQL calls as a function.
final class ScalarFunction {
  typealias Body = @Sendable ([SQLiteValue]) throws -> SQLiteValue

  private let body: Body
  private let counts: CallbackCounts

  init(_ body: @escaping Body, counts: CallbackCounts) {
    self.body = body
    self.counts = counts
  }

  /// Called by SQLite once a row, on the connection's thread.
  static func call(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let data = sqlite3_user_data(context) else { return }
    let function = Retained.borrow(data, as: ScalarFunction.self)
    function.counts.functions &+= 1
    let values = (0..<Int(count)).map { SQLiteValue(argument: arguments?[$0]) }
    do {
      try function.body(values).give(to: context)
    } catch {
      sqlite3_result_error(context, "\(error)", -1)
      sqlite3_result_error_code(context, ResultCode.functionFailed.rawValue)
    }
  }
}

extension SQLiteValue {
  /// Copies an argument of a function.
  init(argument: OpaquePointer?) {
    switch ColumnType(code: sqlite3_value_type(argument)) {
    case .null:
      self = .null
    case .integer:
      self = .integer(sqlite3_value_int64(argument))
    case .real:
      self = .real(sqlite3_value_double(argument))
    case .text:
      let start = sqlite3_value_text(argument)
      let count = Int(sqlite3_value_bytes(argument))
      self = .text(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case .blob:
      let start = sqlite3_value_blob(argument)
      let count = Int(sqlite3_value_bytes(argument))
      self = .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    }
  }

  /// Makes the value a function's result.
  func give(to context: OpaquePointer?) {
    switch self {
    case .null:
      sqlite3_result_null(context)
    case .integer(let value):
      sqlite3_result_int64(context, value)
    case .real(let value):
      sqlite3_result_double(context, value)
    case .text(var value):
      value.withUTF8 { cdprof_result_text(context, $0.baseAddress, UInt64($0.count)) }
    case .blob(let bytes):
      bytes.withUnsafeBytes { cdprof_result_blob(context, $0.baseAddress, UInt64($0.count)) }
    }
  }
}
