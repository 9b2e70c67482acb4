/// The only place where an object travels through SQLite as a raw pointer and comes back.
///
/// SQLite owns one count from `pass` on and gives it back through its destructor callback, which
/// calls `release`. In between `borrow` reads the object without changing the count.
enum Retained {
  /// Adds a count that SQLite will own.
  static func pass(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
  }

  /// The object behind a pointer whose count SQLite still owns.
  ///
  /// The type must be the one passed.
  @inline(__always)
  static func borrow<Object: AnyObject>(
    _ pointer: UnsafeMutableRawPointer, as type: Object.Type
  ) -> Object {
    Unmanaged<Object>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Reads from the object without touching its count, for callbacks that run once a row.
  @inline(__always)
  static func read<Object: AnyObject, Result>(
    _ pointer: UnsafeMutableRawPointer, as type: Object.Type, _ body: (Object) -> Result
  ) -> Result {
    Unmanaged<Object>.fromOpaque(pointer)._withUnsafeGuaranteedRef(body)
  }

  /// Gives SQLite's count back.
  static func release(_ pointer: UnsafeMutableRawPointer) {
    Unmanaged<AnyObject>.fromOpaque(pointer).release()
  }
}
