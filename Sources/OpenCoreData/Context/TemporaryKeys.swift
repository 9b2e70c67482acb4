import Synchronization

/// Keys of objects that were never saved: below zero, never used twice in a process.
enum TemporaryKeys {
  private static let last = Atomic<Int64>(0)

  static func next() -> Int64 {
    last.subtract(1, ordering: .relaxed).newValue
  }
}
