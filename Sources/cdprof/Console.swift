import Foundation
import OpenCoreData
import StoreTools

/// Standard output for results, standard error for messages.
///
/// Every byte for a terminal or pipe goes through here. What would act on a terminal is escaped
/// (`PrintableText`); the few sequences that the program itself sends are written by this type.
struct Console: Sendable {
  /// Whether messages go to a terminal.
  let showsProgress = isatty(STDERR_FILENO) == 1

  /// Writes a result that may have several lines, and a line feed.
  func say(_ text: String) {
    Console.print(Console.escaped(text + "\n"), to: STDOUT_FILENO)
  }

  /// Writes the lines of a result; a line feed inside a line is escaped.
  func say(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    let text = lines.map { PrintableText.line($0) + "\n" }.joined()
    Console.print(Array(text.utf8), to: STDOUT_FILENO)
  }

  /// Shows a text that the next call replaces; nil removes it.
  func show(passing text: String?) {
    Console.print(Console.passing(text ?? ""), to: STDOUT_FILENO)
  }

  /// Writes a result in UTF-8: a report, JSON, or a program.
  ///
  /// JSON has nothing to be escaped any more, so its bytes are written as they are.
  func say(_ data: Data) {
    Console.print(PrintableText.escaped([UInt8](data)), to: STDOUT_FILENO)
  }

  /// Writes a message that may have several lines, and a line feed.
  func complain(_ text: String) {
    Console.print(Console.escaped(text + "\n"), to: STDERR_FILENO)
  }

  /// Writes a message that is one line, whatever names it quotes.
  func note(_ line: String) {
    complain(PrintableText.line(line))
  }

  /// Reports what is wrong with a model that could be read all the same.
  ///
  /// - Parameter path: What it was read from.
  func warn(of model: NSManagedObjectModel, path: String) {
    for line in ModelWarningText.lines(model.problems, path: path) { note(line) }
  }

  /// Shows how far the work is, on one line that the next one replaces; nothing without a terminal.
  func progress(_ text: String) {
    guard showsProgress else { return }
    Console.print(Console.passing(text), to: STDERR_FILENO)
  }

  /// Removes the line of progress.
  func endProgress() {
    guard showsProgress else { return }
    Console.print(Console.passing(""), to: STDERR_FILENO)
  }

  private static func escaped(_ text: String) -> [UInt8] {
    Array(PrintableText.escaped(text).utf8)
  }

  /// Replaces the present line.
  private static func passing(_ text: String) -> [UInt8] {
    Array("\r\u{1B}[K".utf8) + Array(PrintableText.line(text).utf8)
  }

  /// Writes all bytes.
  ///
  /// Results that can't be written end the program with an error; a reader that has gone ends it
  /// through SIGPIPE, without one.
  private static func print(_ bytes: [UInt8], to descriptor: Int32) {
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
    exit(ExitStatus.runFailed.rawValue)
  }

  /// Opens the standard descriptors that the caller has closed, so that no file of ours gets their
  /// numbers and is written to by mistake.
  ///
  /// Writing to them still fails. Call it first of all.
  static func occupyClosedDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
