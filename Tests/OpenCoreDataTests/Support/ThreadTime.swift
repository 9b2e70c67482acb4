import Foundation

/// Returns the processor seconds of the calling thread.
///
/// They don't grow with the tests that run beside the caller's. Work that `performAndWait` runs on
/// a private queue counts, too, because it runs on the calling thread.
func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
