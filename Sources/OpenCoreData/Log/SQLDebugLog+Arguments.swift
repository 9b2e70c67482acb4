import ManagedModel

extension SQLDebugLog {
  /// The log that the process asks for, on standard error: by the argument
  /// `-com.apple.CoreData.SQLDebug N`, which is Apple's, or by `CDPROF_SQL_DEBUG=N` in the environment.
  ///
  /// Bound values are written, as Apple's log does: whoever starts a program with level 2 asks for them.
  static let requestedByArguments: SQLDebugLog? = {
    let level = askedFor(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_SQL_DEBUG"])
    guard level > 0 else { return nil }
    return SQLDebugLog(level: level, showsBinds: true, write: writeToStandardError)
  }()

  /// The level that arguments and variable ask for; 0 for none, and for what is no number.
  static func askedFor(_ arguments: [String], _ variable: String?) -> Int {
    let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug")
    if let flag, arguments.indices.contains(flag + 1), let level = Int(arguments[flag + 1]) {
      return max(0, level)
    }
    return max(0, Int(variable ?? "") ?? 0)
  }

  /// Writes one line to standard error; what would act on a terminal is escaped.
  package static func writeToStandardError(_ line: String) {
    FileHandle.standardError.write(Data((PrintableText.line(line) + "\n").utf8))
  }
}
