import CSQLite

/// A Swift closure that is registered as an SQL function.
final class ScalarFunction {
  typealias Body = @Sendable ([SQLiteValue]) throws -> SQLiteValue

  private let body: Body
  private let counts: CallbackCounts

  init(_ body: @escaping Body, counts: CallbackCounts) {
    self.body = body
    self.counts = counts
  }

  /// Calls the closure.
  ///
  /// SQLite calls this function, usually once per row, on the connection's thread.
  static func call(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let data = sqlite3_user_data(context) else { return }
    let function = Retained.borrow(data, as: ScalarFunction.self)
    function.counts.functions &+= 1
    let values = (0..<Int(count)).map { SQLiteValue(argument: arguments?[$0]) }
    do {
      try function.body(values).setResult(of: context)
    } catch {
      sqlite3_result_error(context, "\(error)", -1)
      sqlite3_result_error_code(context, ResultCode.functionFailed.rawValue)
    }
  }
}

extension SQLiteValue {
  /// Copies a function's argument.
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

  /// Sets the value as a function's result.
  func setResult(of context: OpaquePointer?) {
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

/// A Swift closure that compares two strings for `COLLATE`.
final class Collation {
  typealias Compare = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32

  private let compare: Compare
  private let counts: CallbackCounts

  init(_ compare: @escaping Compare, counts: CallbackCounts) {
    self.compare = compare
    self.counts = counts
  }

  /// Calls the closure with UTF-8 bytes.
  ///
  /// SQLite calls this function for each comparison, on the connection's thread.
  static func call(
    _ data: UnsafeMutableRawPointer?, _ leftCount: Int32, _ left: UnsafeRawPointer?,
    _ rightCount: Int32, _ right: UnsafeRawPointer?
  ) -> Int32 {
    guard let data else { return 0 }
    let first = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
    let second = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
    return Retained.read(data, as: Collation.self) { collation in
      collation.counts.collations &+= 1
      return collation.compare(first, second)
    }
  }
}

/// Passes an object through SQLite as a raw pointer.
///
/// After `pass`, SQLite owns a reference, which its destructor callback releases by calling
/// `release`. In between, `borrow` accesses the object without changing the reference count.
enum Retained {
  /// Retains an object for SQLite.
  static func pass(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
  }

  /// Returns the object for a pointer while SQLite owns a reference to it.
  ///
  /// The type must be that of the passed object.
  @inline(__always)
  static func borrow<Object: AnyObject>(
    _ pointer: UnsafeMutableRawPointer, as type: Object.Type
  ) -> Object {
    Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Accesses the object without changing its reference count, for callbacks that run once per row.
  @inline(__always)
  static func read<Object: AnyObject, Result>(
    _ pointer: UnsafeMutableRawPointer, as type: Object.Type, _ body: (Object) -> Result
  ) -> Result {
    Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
  }

  /// Releases SQLite's reference.
  static func release(_ pointer: UnsafeMutableRawPointer) {
    Unmanaged<AnyObject>.fromOpaque(pointer).release()
  }
}

/// The number of calls of a connection's functions and collations since it was opened.
final class CallbackCounts {
  // Only the connection's thread reads and writes them.
  @exclusivity(unchecked) var functions = 0
  @exclusivity(unchecked) var collations = 0
}
