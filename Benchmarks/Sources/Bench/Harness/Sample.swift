/// The times of one round of an arm, in nanoseconds.
struct Sample {
  /// The wall-clock time.
  let time: UInt64
  /// The CPU time of the process.
  let processor: UInt64
}
