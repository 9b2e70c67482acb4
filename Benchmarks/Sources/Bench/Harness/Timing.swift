import CFloor

/// Returns the time of the monotonic clock, in nanoseconds.
@inline(__always)
func now() -> UInt64 {
  cfloor_now()
}

/// Runs the measured part of an arm, and returns its result and its time in nanoseconds.
///
/// The work is in a separate function between two C functions, so that profilers can be limited to
/// it.
@inline(never)
func timed<R>(_ body: () throws -> R) rethrows -> (result: R, time: UInt64) {
  cfloor_measured_begin()
  let start = now()
  let result = try body()
  let time = now() - start
  cfloor_measured_end()
  return (result, time)
}

/// Uses a value so that the compiler can't remove the loop that produces it.
@inline(never)
@_optimize(none)
func use<T>(_ value: T) {}
