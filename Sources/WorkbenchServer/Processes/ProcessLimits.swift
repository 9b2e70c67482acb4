import Foundation
import WorkbenchText

/// The limits of a process that runs what a browser sent.
package enum ProcessLimits {
  /// Limits the processor time, memory, and files of this process.
  ///
  /// The system enforces the limits, and the process can't raise them. Call this method before it
  /// reads anything from a browser.
  ///
  /// - Parameter processorTime: The processor time in seconds, after which the process is killed.
  package static func apply(processorTime: Int) {
    let limits: [(resource: __rlimit_resource, value: Int)] = [
      (RLIMIT_CPU, processorTime), (RLIMIT_AS, InputLimits.browserMemory),
      (RLIMIT_FSIZE, InputLimits.browserFileSize), (RLIMIT_CORE, 0),
    ]
    for (name, value) in limits {
      let resource = __rlimit_resource_t(bitPattern: name.rawValue)
      var limit = rlimit()
      getrlimit(resource, &limit)
      limit.rlim_cur = min(limit.rlim_max, rlim_t(value))
      limit.rlim_max = limit.rlim_cur
      setrlimit(resource, &limit)
    }
  }
}
