import Foundation

/// Writes the man pages of a program, for its installation.
///
/// `cdprof --experimental-dump-help | ManualTool Documentation/cli.md VERSION FOLDER` writes
/// `cdprof.1`, and a page for each command, such as `cdprof-run.1`.
@main
enum ManualTool {
  static func main() {
    exit(run(Array(CommandLine.arguments.dropFirst())))
  }

  /// Runs the tool.
  ///
  /// Errors are printed on standard error.
  ///
  /// - Parameter arguments: The page that describes the commands, the version of the program, and
  ///   the folder to write to, which must exist.
  /// - Returns: The exit status: 0 on success, 1 if a file can't be read or written, 64 for invalid
  ///   arguments, or 65 if standard input isn't the description of a program or the page doesn't
  ///   describe a command.
  static func run(_ arguments: [String]) -> Int32 {
    guard arguments.count == 3 else {
      complain("usage: PROGRAM --experimental-dump-help | ManualTool PAGE VERSION FOLDER")
      return 64
    }
    let folder = URL(fileURLWithPath: arguments[2], isDirectory: true)
    do {
      let input = try FileHandle.standardInput.readToEnd() ?? Data()
      let program = try JSONDecoder().decode(ProgramHelp.self, from: input).command
      let text = try String(contentsOfFile: arguments[0], encoding: .utf8)
      let manual = Manual(
        program: program, version: arguments[1], reference: CommandReference(text))
      for page in try manual.pages() {
        try Data(page.text.utf8).write(to: folder.appendingPathComponent(page.name))
      }
      return 0
    } catch let missing as CommandReference.Missing {
      complain("\(arguments[0]): \(missing.description)")
      return 65
    } catch let error as DecodingError {
      complain("standard input isn't the output of --experimental-dump-help: \(error)")
      return 65
    } catch {
      complain(error.localizedDescription)
      return 1
    }
  }

  private static func complain(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("ManualTool: \(line)\n".utf8))
  }
}
