import Foundation
import OpenCoreData
import Workbench

/// Standard output for results, standard error for messages.
struct Console {
  /// Whether somebody watches messages.
  let showsProgress = isatty(STDERR_FILENO) == 1

  /// Writes a result and an end of line.
  func say(_ text: String) {
    Console.write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes the lines of a result.
  func say(_ lines: [String]) {
    guard !lines.isEmpty else { return }
    say(lines.joined(separator: "\n"))
  }

  /// Shows a text that the next call takes away again; nil only takes it away.
  func show(passing text: String?) {
    Console.write("\r\u{1B}[K\(text ?? "")", to: STDOUT_FILENO)
  }

  /// Writes bytes that are a result, as they are.
  func say(_ data: Data) {
    Console.write(data, to: STDOUT_FILENO)
  }

  /// Writes a message and an end of line.
  func complain(_ text: String) {
    Console.write(text + "\n", to: STDERR_FILENO)
  }

  /// Says what is wrong with a model that was read all the same.
  ///
  /// - Parameter path: What it was read from.
  func warn(of model: NSManagedObjectModel, path: String) {
    for line in ModelWarningText.lines(model.problems, path: path) { complain(line) }
  }

  /// Shows how far the work is, on one line that the next one replaces; nothing where nobody watches.
  func progress(_ text: String) {
    guard showsProgress else { return }
    Console.write("\r\u{1B}[K\(text)", to: STDERR_FILENO)
  }

  /// Takes the line of progress away.
  func endProgress() {
    guard showsProgress else { return }
    Console.write("\r\u{1B}[K", to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    write(Data(text.utf8), to: descriptor)
  }

  /// Writes all of it; gives up when nobody reads any more.
  private static func write(_ data: Data, to descriptor: Int32) {
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.write(descriptor, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
