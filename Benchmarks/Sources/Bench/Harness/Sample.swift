/// One round of one arm, in nanoseconds.
struct Sample {
  /// By the clock on the wall.
  let time: UInt64
  /// While the thread was running.
  let processor: UInt64
}
