import CFloor

/// The monotonic clock, in nanoseconds.
@inline(__always)
func now() -> UInt64 {
  cfloor_now()
}

/// Runs the measured part of an arm and gives its nanoseconds.
///
/// A function of its own between two calls of C, so that profilers can look at nothing else.
@inline(never)
func timed<R>(_ body: () throws -> R) rethrows -> (result: R, time: UInt64) {
  cfloor_measured_begin()
  let start = now()
  let result = try body()
  let time = now() - start
  cfloor_measured_end()
  return (result, time)
}

/// Uses a value, so that the compiler cannot drop the loop that made it.
@inline(never)
@_optimize(none)
func use<T>(_ value: T) {}
