import CReadline
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchShell

/// Reads lines from a terminal with readline, which provides editing and history.
///
/// Ctrl-C discards the line and shows the prompt again; Ctrl-D at the start of a line ends the
/// input. Use an instance on one thread; only `tell(_:)` can be called on any thread.
final class TerminalInput: Sendable {
  private let history = HistoryFile()

  /// A pipe whose bytes, the numbers of signals, wake a waiting readline.
  private static let wake = Pipe()
  private static let wasInterrupted = Atomic(false)

  /// The maximum number of lines in the history.
  private static let historyLimit: Int32 = 1_000

  /// Configures readline and reads the history.
  init() {
    cdprof_readline_begin(
      "cdprof", { stream in TerminalInput.byte(from: stream) },
      { _, _, end in TerminalInput.completions(upTo: end) })
    stifle_history(TerminalInput.historyLimit)
    if let history { read_history(history.path) }
  }

  /// Returns the next line, or nil at the end of the input.
  ///
  /// - Parameters:
  ///   - prompt: The text before the cursor.
  ///   - vocabulary: The words that Tab completes.
  func nextLine(after prompt: String, offering vocabulary: ShellVocabulary) -> String? {
    offer(vocabulary)
    while true {
      TerminalInput.wasInterrupted.store(false, ordering: .relaxed)
      guard let text = readline(PrintableText.line(prompt)) else {
        print()
        return nil
      }
      defer { free(text) }
      if TerminalInput.wasInterrupted.load(ordering: .relaxed) { continue }
      let line = String(cString: text)
      remember(line)
      return line
    }
  }

  /// Inserts a key that was already pressed, or its first byte, at the start of the next line.
  func begin(with key: UInt8) {
    rl_stuff_char(Int32(key))
  }

  /// Forwards a signal to the thread that waits for a key, which handles it.
  func tell(_ signal: Int32) {
    var byte = UInt8(truncatingIfNeeded: signal)
    write(TerminalInput.wake.fileHandleForWriting.fileDescriptor, &byte, 1)
  }

  /// Writes the history file; does nothing if its folder can't be created.
  func saveHistory() {
    guard let history, history.makeFolder() else { return }
    write_history(history.path)
    chmod(history.path, 0o600)
  }

  private func remember(_ line: String) {
    guard line.contains(where: { !$0.isWhitespace }) else { return }
    cdprof_readline_remember(line)
  }

  /// Returns the next byte for readline: from the terminal, or a line feed after Ctrl-C.
  private static func byte(from stream: UnsafeMutablePointer<FILE>?) -> Int32 {
    let wakeUp = wake.fileHandleForReading.fileDescriptor
    while true {
      var waiting = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) >= 0 else {
        guard errno == EINTR else { return EOF }
        continue
      }
      guard waiting[1].revents & Int16(POLLIN) != 0 else { return rl_getc(stream) }
      var signal: UInt8 = 0
      guard read(wakeUp, &signal, 1) == 1 else { continue }
      guard Int32(signal) != SIGINT else {
        wasInterrupted.store(true, ordering: .relaxed)
        return Int32(UInt8(ascii: "\n"))
      }
      handle(Int32(signal))
    }
  }

  /// Handles a signal that arrives while a line is edited.
  ///
  /// Restores the terminal's settings before the program stops or exits, and sets them again when
  /// it continues.
  private static func handle(_ signal: Int32) {
    switch signal {
    case SIGWINCH:
      rl_resize_terminal()
    case SIGTSTP:
      rl_deprep_terminal()
      Signals.stopProgram()
      rl_prep_terminal(1)
      rl_forced_update_display()
    default:
      rl_deprep_terminal()
      Signals.endProgram(signal)
    }
  }
}
