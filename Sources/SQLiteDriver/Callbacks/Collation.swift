/// A Swift closure that compares two texts for `COLLATE`.
final class Collation {
  typealias Compare = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Int32

  private let compare: Compare
  private let counts: CallbackCounts

  init(_ compare: @escaping Compare, counts: CallbackCounts) {
    self.compare = compare
    self.counts = counts
  }

  /// Called by SQLite for each comparison, on the connection's thread.
  ///
  /// The bytes are UTF-8.
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
