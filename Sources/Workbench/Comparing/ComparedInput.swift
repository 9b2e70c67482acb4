import Foundation

/// Files that are to be compared: results or logs, which their beginning tells.
package enum ComparedInput {
  /// Reads two files of one kind and puts them side by side.
  ///
  /// - Parameters: a result written with `--report json`, or a log; `-` is a log on standard input.
  /// - Throws: `InputRefusal` for a file that is missing, for two of different kinds, and for one that is
  ///   neither; `ScenarioDiagnostics` for a damaged result.
  package static func comparison(_ before: String, _ after: String) throws -> RunComparison {
    let kinds = (try isResult(before), try isResult(after))
    switch kinds {
    case (true, true):
      return RunComparison(try ResultFile.read(at: before), try ResultFile.read(at: after))
    case (false, false):
      return RunComparison(try log(before), try log(after))
    default:
      let (result, log) = kinds.0 ? (before, after) : (after, before)
      // An empty or foreign file is told as such, not as a log.
      _ = try self.log(log)
      throw InputRefusal(
        kind: .unusable, message: "\(result) is a result and \(log) is a log",
        nextStep: "give two results, or two logs")
    }
  }

  /// Whether a file is to be read as a result: it begins with a brace, and not as a record of
  /// `log show` does.
  private static func isResult(_ path: String) throws -> Bool {
    if path == "-" { return false }
    try InputRefusal.checkFile(path)
    guard let file = FileHandle(forReadingAtPath: path) else { return false }
    defer { try? file.close() }
    let head = LogBytes(ArraySlice((try file.read(upToCount: 1 << 16)) ?? Data()))
    let first = head.bytes.first { !$0.isBlank && $0 != 0x0A }
    return first == UInt8(ascii: "{") && !head.contains("\"eventMessage\"")
  }

  private static func log(_ path: String) throws -> LogReport {
    let report = try LogReader.read(path)
    guard report.coreDataLines > 0 || !report.sections.isEmpty else {
      throw InputRefusal(
        kind: .unusable,
        message: "\(path) is neither a result nor a log: none of its "
          + "\(NumberText.counted(report.lines, "line")) is Core Data's",
        nextStep: "give what `cdprof run --report json` wrote, or what SQLDebug printed")
    }
    return report
  }
}
