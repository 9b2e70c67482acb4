import OpenCoreData

/// A value that only a context's queue uses.
///
/// Closures of other queues can carry the value, but not use it: it's accessible only in blocks
/// that the context runs.
struct QueueConfined<Value>: @unchecked Sendable {  // only blocks of the context use the value
  private let value: Value
  private let context: NSManagedObjectContext

  /// Confines a value to the queue of a context.
  ///
  /// The value must already belong to that queue, or be used nowhere else.
  init(_ value: Value, to context: NSManagedObjectContext) {
    self.value = value
    self.context = context
  }

  /// Calls a closure with the value: immediately on the context's queue; otherwise, waits for it.
  func withValue<Result>(_ body: (Value) throws -> Result) rethrows -> Result {
    try context.performAndWait { try body(value) }
  }
}
