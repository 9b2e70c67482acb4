import CReadline
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchShell

/// Lines from a person at a terminal, with editing and history, by readline.
///
/// Ctrl-C throws the line away and asks again; Ctrl-D at its beginning ends the input. Use it from one
/// thread; `tell(_:)` may come from any.
final class TerminalInput: Sendable {
  private let history = HistoryFile()

  /// A byte in this pipe wakes a waiting readline.
  private static let wake = Pipe()
  private static let wasInterrupted = Atomic(false)

  /// Lines kept.
  private static let historyLimit: Int32 = 1_000

  /// Sets readline up and reads the history.
  init() {
    cdprof_readline_begin(
      "cdprof", { stream in TerminalInput.byte(from: stream) },
      { _, _, end in TerminalInput.completions(upTo: end) })
    stifle_history(TerminalInput.historyLimit)
    if let history { read_history(history.path) }
  }

  /// The next line; nil at the end of the input.
  ///
  /// - Parameters:
  ///   - prompt: the text before the cursor.
  ///   - vocabulary: what Tab chooses from.
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

  /// Lets the next line begin with a key that was pressed already, or with the first byte of one.
  func begin(with key: UInt8) {
    rl_stuff_char(Int32(key))
  }

  /// Passes a signal on to the thread that waits for a key, which handles it there.
  func tell(_ signal: Int32) {
    var byte = UInt8(truncatingIfNeeded: signal)
    write(TerminalInput.wake.fileHandleForWriting.fileDescriptor, &byte, 1)
  }

  /// Writes the history; a place that cannot be written keeps none.
  func saveHistory() {
    guard let history, history.makeFolder() else { return }
    write_history(history.path)
    chmod(history.path, 0o600)
  }

  private func remember(_ line: String) {
    guard line.contains(where: { !$0.isWhitespace }) else { return }
    cdprof_readline_remember(line)
  }

  /// The next byte for readline: from the terminal, or an end of line when Ctrl-C was pressed.
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

  /// What a signal does in the middle of a line: the terminal is given back as it was, and taken again.
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
