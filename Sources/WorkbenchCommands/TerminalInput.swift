import CReadline
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchShell

/// Reads lines from a terminal with readline, which provides editing and history.
///
/// Ctrl-C discards the line and shows the prompt; Ctrl-D at the start of a line ends the
/// input. Use an instance on one thread; only `receive(_:)` can be called on any thread.
final class TerminalInput: Sendable {
  private static let history = HistoryFile()
  /// The number of lines in the history that aren't in its file.
  private static let added = Atomic(0)

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
    if let history = TerminalInput.history { read_history(history.path) }
  }

  /// Returns the next line, or `nil` at the end of the input.
  ///
  /// - Parameters:
  ///   - prompt: Returns the text before the cursor.
  ///   - vocabulary: The words that Tab completes.
  ///   - discard: Called after Ctrl-C, before the next prompt.
  func nextLine(
    after prompt: () -> String, offering vocabulary: ShellVocabulary, discarding discard: () -> Void
  ) -> String? {
    offer(vocabulary)
    while true {
      TerminalInput.wasInterrupted.store(false, ordering: .relaxed)
      guard let text = readline(PrintableText.line(prompt())) else {
        print()
        return nil
      }
      defer { free(text) }
      if TerminalInput.wasInterrupted.load(ordering: .relaxed) {
        discard()
        continue
      }
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
  func receive(_ signal: Int32) { TerminalInput.forward(signal) }

  /// Forwards a signal to the thread that waits for a key, or waits for the next one.
  static func forward(_ signal: Int32) {
    var byte = UInt8(truncatingIfNeeded: signal)
    write(TerminalInput.wake.fileHandleForWriting.fileDescriptor, &byte, 1)
  }

  /// Waits until a key is pressed.
  ///
  /// - Returns: A forwarded signal, if one arrives before the key; otherwise, `nil`.
  static func signalBeforeKey() -> Int32? {
    let wakeUp = wake.fileHandleForReading.fileDescriptor
    while true {
      var waiting = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) >= 0 else {
        guard errno == EINTR else { return nil }
        continue
      }
      guard waiting[1].revents & Int16(POLLIN) != 0 else { return nil }
      var signal: UInt8 = 0
      if read(wakeUp, &signal, 1) == 1 { return Int32(signal) }
    }
  }

  /// Saves the history, and exits with the status that a shell reports for a signal.
  ///
  /// The terminal must have its settings. Call this method on any thread, unless a line is edited.
  static func endProgram(_ signal: Int32) -> Never {
    saveHistory()
    Signals.endProgram(signal)
  }

  /// Adds the new lines to the history file, after those of other shells; does nothing if it can't
  /// be created.
  func saveHistory() { TerminalInput.saveHistory() }

  private static func saveHistory() {
    let count = Int32(clamping: added.exchange(0, ordering: .relaxed))
    guard count > 0, let history, history.make() else { return }
    append_history(count, history.path)
    history_truncate_file(history.path, historyLimit)
    chmod(history.path, 0o600)
  }

  private func remember(_ line: String) {
    guard line.contains(where: { !$0.isWhitespace }) else { return }
    let count = cdprof_readline_remember(line)
    TerminalInput.added.add(Int(count), ordering: .relaxed)
  }

  /// Returns the next byte for readline: from the terminal, or a line feed after Ctrl-C.
  private static func byte(from stream: UnsafeMutablePointer<FILE>?) -> Int32 {
    while let signal = signalBeforeKey() {
      guard signal != SIGINT else {
        wasInterrupted.store(true, ordering: .relaxed)
        return Int32(UInt8(ascii: "\n"))
      }
      handle(signal)
    }
    return rl_getc(stream)
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
      endProgram(signal)
    }
  }
}

extension TerminalInput {
  /// The words that Tab completes at the current prompt.
  private static let vocabulary = Mutex<ShellVocabulary?>(nil)

  /// Sets the words that Tab completes, until the next call.
  func offer(_ vocabulary: ShellVocabulary) {
    TerminalInput.vocabulary.withLock { $0 = vocabulary }
  }

  /// Returns the completions at the cursor, in readline's format.
  ///
  /// - Parameter end: The cursor's position in readline's line, in bytes.
  /// - Returns: An array that readline frees, or `nil` if there are no completions or if readline
  ///   is to complete file names.
  static func completions(upTo end: Int32) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let line = String(
      decoding: UnsafeRawBufferPointer(start: cdprof_readline_line(), count: Int(end)),
      as: UTF8.self)
    guard let vocabulary = vocabulary.withLock({ $0 }) else { return nil }
    switch vocabulary.candidates(for: line) {
    case .files:
      return nil
    case .words(let all):
      // Readline prints completions unescaped, so only printable ones are offered.
      let words = all.filter { PrintableText.line($0) == $0 }
      cdprof_readline_offer_no_files()
      return words.isEmpty ? nil : matches(words)
    }
  }

  /// Returns words in readline's format: the longest common prefix, the words, and `nil`.
  private static func matches(
    _ words: [String]
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let common = words.dropFirst().reduce(words[0]) { $0.commonPrefix(with: $1) }
    let entries = words.count == 1 ? words : [common] + words
    let size = (entries.count + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    // Readline frees the array with `free`.
    guard let memory = malloc(size) else { return nil }
    let array = memory.bindMemory(
      to: UnsafeMutablePointer<CChar>?.self, capacity: entries.count + 1)
    for (index, entry) in entries.enumerated() { array[index] = strdup(entry) }
    array[entries.count] = nil
    return array
  }
}

/// The file that stores the shell's command history.
struct HistoryFile {
  let path: String

  /// Locates the file under `$XDG_STATE_HOME`, or under `~/.local/state` if that isn't set.
  ///
  /// Returns `nil` if `HOME` isn't set either.
  init?() {
    let environment = ProcessInfo.processInfo.environment
    // The XDG specification requires that relative paths be ignored.
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = state ?? home.map({ "\($0)/.local/state" }) else { return nil }
    path = "\(folder)/cdprof/history"
  }

  /// Creates the file and its folder, accessible only to this user, and returns whether they exist.
  func make() -> Bool {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      return false
    }
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else { return false }
    close(file)
    return true
  }
}
