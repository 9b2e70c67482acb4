package import Foundation
import ProfileEvents
package import Profiling
import WorkbenchText

/// A result as Chrome's trace events, which Perfetto and `chrome://tracing` open.
///
/// A process a variant, all of them beginning at 0, with a track for steps, fetches, saves, faults,
/// misses, statements and the rest, and counters that grow with the work. Events of several contexts
/// that overlap get tracks of their own, because what is drawn on one must lie one in the other. Bound
/// values and paths of stores are not in it.
package enum TraceReport {
  /// One JSON object, `traceEvents` in it, an event a line.
  package static func data(_ result: RunResult) -> Data {
    var data = Data("{\"displayTimeUnit\":\"ns\",\n\"otherData\":\(about(result)),\n".utf8)
    data += Data("\"traceEvents\":[\n".utf8)
    var isFirst = true
    for (index, variant) in result.variants.enumerated() {
      for line in TraceProcess(variant, number: index + 1).lines {
        if !isFirst { data += Data(",\n".utf8) }
        isFirst = false
        data += Data(line.utf8)
      }
    }
    data += Data("\n]}\n".utf8)
    return data
  }

  private static func about(_ result: RunResult) -> String {
    var fields = JSONFields()
    fields.add("scenario", result.scenario)
    fields.add("file", result.file)
    fields.add("seed", result.seed)
    fields.add("scale", result.scale)
    fields.add("verdict", result.verdict)
    fields.add("cdprof", result.environment.cdprof)
    fields.add("sqlite", result.environment.sqlite)
    fields.add("machine", result.environment.machine)
    fields.add("build", result.environment.build)
    return fields.object
  }
}
