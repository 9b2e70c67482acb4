import CFloor
import Foundation

/// The statements that SQLite reports for a block, with their values and their connections, for the
/// floor to run again.
final class Script {
  private let script: OpaquePointer

  /// Records a block that opens its own connections.
  init(_ block: () throws -> Void) throws {
    cfloor_trace_begin()
    cfloor_script_begin()
    defer {
      cfloor_trace_end()
      cfloor_trace_clear()
    }
    let result = Swift.Result { try block() }
    guard let script = cfloor_script_take() else { throw BenchError("no script") }
    self.script = script
    try result.get()
  }

  deinit {
    cfloor_script_free(script)
  }

  /// Runs the statements on a file, and returns the time in nanoseconds.
  ///
  /// Connections that the block left open are closed after the measured part.
  func run(on url: URL) throws -> UInt64 {
    let (message, time) = timed { cfloor_script_run(script, url.path) }
    defer { cfloor_script_close(script) }
    if let message { throw BenchError("the floor: \(String(cString: message))") }
    return time
  }
}
