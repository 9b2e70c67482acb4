import ProfileEvents
package import WorkbenchText

/// Reads one line of the shell as a step.
package enum ShellLine {
  /// The step a line says.
  ///
  /// - Parameters:
  ///   - line: without its end.
  ///   - number: the line's number in this shell, from 1; with `file` the step's call site.
  ///   - commands: words the shell knows beside the verbs, to be proposed for an unknown one.
  /// - Throws: `LineError` with the place of the first wrong word.
  package static func parse(
    _ line: String, number: Int, file: String = "shell", commands: [String] = []
  ) throws(LineError) -> Step {
    let start = SourcePlace(line: number, column: 1)
    do {
      return try step(
        of: line, startingAt: start, location: CallSite(file: file, line: number),
        commands: commands)
    } catch {
      throw LineError(error, in: line)
    }
  }

  /// The step written in a text that stands somewhere in a file.
  static func step(
    of text: String, startingAt start: SourcePlace, location: CallSite, commands: [String] = []
  ) throws(LanguageProblem) -> Step {
    var reader = LineReader(tokens: try LineWords.tokens(of: text, startingAt: start), start: start)
    return try StepBuilder(try reader.form(), otherVerbs: commands).step(at: location)
  }
}
