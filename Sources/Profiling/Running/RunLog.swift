import OpenCoreData
import ProfileEvents

/// The SQL log of a run: each variant a section that `cdprof log` reads and can judge.
package struct RunLog: Sendable {
  let sink: SQLDebugLog
  private let write: @Sendable (String) -> Void

  /// - Parameters:
  ///   - level: 1 to 4, as SQLDebug's.
  ///   - showsBinds: whether bound values are written.
  ///   - write: gets one line at a time, without a line feed.
  package init(level: Int, showsBinds: Bool, write: @escaping @Sendable (String) -> Void) {
    sink = SQLDebugLog(level: level, showsBinds: showsBinds, write: write)
    self.write = write
  }

  /// Runs a body between the lines that begin and end its section, however it ends.
  func section<R>(_ name: String, _ body: () throws -> R) rethrows -> R {
    write("cdprof: begin \(name)")
    defer { write("cdprof: end") }
    return try body()
  }
}
