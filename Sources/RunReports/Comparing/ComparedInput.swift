import Foundation
import LogAnalysis
import Profiling
import WorkbenchText

/// Files that are to be compared: results or logs, which their beginning tells.
package enum ComparedInput {
  /// Reads two files of one kind and puts them side by side.
  ///
  /// - Parameters: a result written with `--report json`, or a log; `-` is standard input.
  /// - Throws: `InputRefusal` for a file that is missing, for two of different kinds, and for one that is
  ///   neither; `ScenarioDiagnostics` for a damaged result.
  package static func comparison(_ before: String, _ after: String) throws -> RunComparison {
    // Each is opened once and read once: it may be a pipe.
    let inputs = (try LogLines(path: before), try LogLines(path: after))
    let kinds = (isResult(inputs.0), isResult(inputs.1))
    switch kinds {
    case (true, true):
      return RunComparison(try result(inputs.0, before), try result(inputs.1, after))
    case (false, false):
      return RunComparison(try log(inputs.0, before), try log(inputs.1, after))
    default:
      let (result, other) = kinds.0 ? (before, after) : (after, before)
      // An empty or foreign file is told as such, not as a log.
      _ = try log(kinds.0 ? inputs.1 : inputs.0, other)
      throw InputRefusal(
        kind: .unusable, message: "\(result) is a result and \(other) is a log",
        nextStep: "give two results, or two logs")
    }
  }

  /// Whether input is to be read as a result: it begins with a brace, and not as a record of
  /// `log show` does.
  private static func isResult(_ input: LogLines) -> Bool {
    let head = LogBytes(input.peek(1 << 16))
    let first = head.bytes.first { !$0.isBlank && $0 != 0x0A }
    return first == UInt8(ascii: "{") && !head.contains("\"eventMessage\"")
  }

  private static func result(_ input: LogLines, _ path: String) throws -> RunResult {
    guard let bytes = input.rest(limit: ResultFile.maximumSize) else {
      throw InputRefusal.tooLong(path, limit: ResultFile.maximumSize)
    }
    if let problem = input.problem { throw problem }
    return try ResultFile.read(Data(bytes), path: path)
  }

  private static func log(_ input: LogLines, _ path: String) throws -> LogReport {
    let report = try LogReader.read(input, of: path)
    guard report.isLog else {
      throw InputRefusal(
        kind: .unusable,
        message: "\(path) is neither a result nor a log: none of its "
          + "\(NumberText.counted(report.lines, "line")) is Core Data's",
        nextStep: "give what `cdprof run --report json` wrote, or what SQLDebug printed")
    }
    return report
  }
}
