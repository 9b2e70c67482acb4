#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The clock of events and statements, in nanoseconds that never decrease.
package enum MonotonicClock {
  /// Returns the nanoseconds since an arbitrary time before the process began.
  package static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  /// Returns what to add to a time of this clock for the nanoseconds since 1970, UTC.
  ///
  /// It changes when the system's time is set, and while the system sleeps.
  package static func epoch() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec) &- now()
  }

  /// Returns the operating system's ID of the current thread.
  package static func threadID() -> UInt64 {
    #if canImport(Darwin)
      var id: UInt64 = 0
      pthread_threadid_np(nil, &id)
      return id
    #else
      return UInt64(pthread_self())
    #endif
  }
}
