#if Workbench
  import LogAnalysis

  /// Reads a log as `cdprof log` does.
  public enum LogReading {
    /// Returns the number of lines, of different statements, and of executions in a log.
    public static func counts(of path: String) throws -> (
      lines: Int, statements: Int, executions: Int
    ) {
      let report = try LogReader.read(path)
      return (
        report.lines, report.statements.count, report.statements.reduce(0) { $0 + $1.calls }
      )
    }
  }
#endif
