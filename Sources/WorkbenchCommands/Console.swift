import Foundation
import OpenCoreData
import StoreTools
import WorkbenchServer
import WorkbenchText

/// Standard output for results, standard error for messages.
///
/// All output to a terminal or pipe is written by this type. It escapes control sequences
/// (`PrintableText`), except for the few that the program itself sends.
struct Console: Sendable {
  /// Whether standard error is a terminal.
  let showsProgress = isatty(STDERR_FILENO) == 1

  /// Whether findings and errors are written in color.
  private(set) var usesColor = false

  /// The console with colors, if the terminal and the user accept them.
  var colored: Console {
    var console = self
    console.usesColor = Console.acceptsColor
    return console
  }

  /// Whether the terminal and the user accept colors.
  ///
  /// `NO_COLOR` and `TERM=dumb` turn them off; see https://no-color.org.
  private static var acceptsColor: Bool {
    let environment = ProcessInfo.processInfo.environment
    return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR"]?.isEmpty != false
      && environment["TERM"].map { $0 != "dumb" && !$0.isEmpty } == true
  }

  /// Writes a result of one or more lines, and a line feed.
  func write(_ text: String) {
    Console.print(Console.escaped(text + "\n"), to: STDOUT_FILENO)
  }

  /// Writes the lines of a result, and escapes line feeds inside a line.
  func write(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    let text = lines.map { line in
      let text = PrintableText.line(line)
      return (usesColor && text.hasPrefix("  ! ") ? Console.colored(text, 33) : text) + "\n"
    }.joined()
    Console.print(Array(text.utf8), to: STDOUT_FILENO)
  }

  /// Returns text in one of the terminal's colors.
  private static func colored(_ text: String, _ code: Int) -> String {
    "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// Writes the message of a failure, the first line in color if colors are used.
  func writeError(_ failure: CommandFailure) {
    let text = PrintableText.escaped(failure.text())
    guard usesColor else { return writeError(text) }
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = lines.count > 1 ? "\n\(lines[1])" : ""
    Console.print(
      Array("\(Console.colored(String(lines[0]), 31))\(rest)\n".utf8), to: STDERR_FILENO)
  }

  /// Shows text on the current line until the next call replaces it; `nil` removes it.
  func show(passing text: String?) {
    Console.print(Console.passing(text ?? "", on: STDOUT_FILENO), to: STDOUT_FILENO)
  }

  /// Replaces the lines that the last call wrote on a terminal.
  ///
  /// - Parameters:
  ///   - height: The number of lines to replace, above the cursor.
  ///   - lines: The lines, which fit the terminal.
  /// - Returns: The number of lines written.
  func replace(_ height: Int, with lines: [String]) -> Int {
    let up = height == 0 ? "" : "\u{1B}[\(height)A\u{1B}[J"
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    Console.print(Array((up + text).utf8), to: STDOUT_FILENO)
    return lines.count
  }

  /// Writes a result in UTF-8: a report, JSON, or a program.
  ///
  /// JSON is already escaped, so its bytes are written unchanged.
  func write(_ data: Data) {
    Console.print(PrintableText.escaped([UInt8](data)), to: STDOUT_FILENO)
  }

  /// Writes the byte after an answer to a browser, which no other output contains.
  func endAnswer() {
    Console.print([ShellProcess.endOfAnswer], to: STDOUT_FILENO)
  }

  /// Writes a message of one or more lines, and a line feed.
  func writeError(_ text: String) {
    Console.print(Console.escaped(text + "\n"), to: STDERR_FILENO)
  }

  /// Writes a message on one line, and escapes line feeds in the names it quotes.
  func writeMessage(_ line: String) {
    writeError(PrintableText.line(line))
  }

  /// Prints the warnings of a model, which don't prevent its use.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - path: The path that the model was read from.
  func warn(of model: NSManagedObjectModel, path: String) {
    for line in ModelWarningText.lines(model.problems, path: path) { writeMessage(line) }
  }

  /// Prints a warning if a model was inferred from a store's tables.
  func warnOfGuesses(in found: FoundModel) {
    if found.origin == .tables { writeError(Messages.inferredNames) }
  }

  /// Shows progress on a line that the next call replaces, if standard error is a terminal.
  func progress(_ text: String) {
    guard showsProgress else { return }
    Console.print(Console.passing(text, on: STDERR_FILENO), to: STDERR_FILENO)
  }

  /// Removes the progress line.
  func endProgress() {
    guard showsProgress else { return }
    Console.print(Console.passing("", on: STDERR_FILENO), to: STDERR_FILENO)
  }

  private static func escaped(_ text: String) -> [UInt8] {
    Array(PrintableText.escaped(text).utf8)
  }

  /// Returns the bytes that replace the current line of a terminal.
  ///
  /// Text that doesn't fit the line is truncated: of several lines, only the last one could be
  /// replaced.
  private static func passing(_ text: String, on descriptor: Int32) -> [UInt8] {
    let line = PrintableText.line(text)
    let shown =
      screen(of: descriptor).map { TextWidth.truncated(line, columns: $0.columns - 1) } ?? line
    return Array("\r\u{1B}[K\(shown)".utf8)
  }

  /// Returns the size of a terminal, or `nil` if a descriptor isn't one or the size is unknown.
  static func screen(of descriptor: Int32) -> (rows: Int, columns: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
      return nil
    }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Writes all bytes, unless the process is ending.
  ///
  /// If standard output can't be written, prints an error and exits with status 1. If the reader of
  /// a pipe has exited, SIGPIPE ends the program without a message.
  private static func print(_ bytes: [UInt8], to descriptor: Int32) {
    Ending.waitIfBegun()
    let problem = bytes.withUnsafeBytes { bytes -> Int32? in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.write(descriptor, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
          continue
        }
        guard count > 0 else { return count < 0 ? errno : EIO }
        rest = rest.dropFirst(count)
      }
      return nil
    }
    guard let problem, descriptor == STDOUT_FILENO, problem != EPIPE else { return }
    print(Array("\(Messages.unwritten(problem))\n".utf8), to: STDERR_FILENO)
    Ending.end(ExitStatus.runFailed.rawValue)
  }

  /// Opens the standard descriptors that the caller has closed, so that no file opened later gets
  /// one of their numbers and receives the program's output.
  ///
  /// Writing to these descriptors still fails. Call this method before any other.
  static func occupyClosedDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
