import Foundation
import Testing

/// The program in a pseudo-terminal that a test controls.
final class TerminalSession {
  private let process: pid_t
  private let terminal: Int32
  private var received = ""

  /// Starts the program with the other end of a new pseudo-terminal as its controlling terminal.
  ///
  /// - Parameter environment: The variables to add to those of the program.
  init(
    _ program: BuiltProgram, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    let (terminal, name) = try TerminalSession.openTerminal()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    // The first terminal that a session leader opens becomes its controlling terminal.
    posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    posix_spawn_file_actions_addclose(&actions, terminal)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    posix_spawnattr_setflags(&attributes, TerminalSession.spawnInNewSession)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    let words = ([program.path] + arguments).map { strdup($0) }
    let variables = program.environment.merging(environment) { $1 }.map {
      strdup("\($0.key)=\($0.value)")
    }
    defer { (words + variables).forEach { free($0) } }
    var process = pid_t()
    let status = posix_spawn(
      &process, program.path, &actions, &attributes, words + [nil], variables + [nil])
    try #require(status == 0)
    self.terminal = terminal
    self.process = process
  }

  /// `POSIX_SPAWN_SETSID`, which glibc declares only with `_GNU_SOURCE`.
  private static let spawnInNewSession: Int16 = 0x80

  /// Opens a new pseudo-terminal, and returns the descriptor of one end and the name of the other.
  ///
  /// Uses Linux requests, because `posix_openpt` and related functions aren't imported to Swift.
  private static func openTerminal() throws -> (descriptor: Int32, name: String) {
    let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var isLocked: Int32 = 0
    var index: Int32 = 0
    try #require(terminal >= 0)
    try #require(ioctl(terminal, unlock, &isLocked) == 0)
    try #require(ioctl(terminal, number, &index) == 0)
    return (terminal, "/dev/pts/\(index)")
  }

  deinit {
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    close(terminal)
  }

  /// Types keys one at a time.
  func type(_ keys: String) {
    for var byte in Array(keys.utf8) { write(terminal, &byte, 1) }
  }

  /// Sets the size of the terminal.
  func resize(rows: UInt16, columns: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
  }

  /// Sends the program a signal.
  func send(_ signal: Int32) {
    kill(process, signal)
  }

  /// Waits until a string appears in the output, and discards the output up to its end.
  ///
  /// - Returns: The output before the string; `nil` if it doesn't appear in time.
  @discardableResult
  func wait(for text: String, seconds: Double = 300) -> String? {
    let end = Date().addingTimeInterval(seconds)
    while true {
      if let range = received.range(of: text) {
        let before = String(received[..<range.lowerBound])
        received.removeSubrange(..<range.upperBound)
        return before
      }
      guard end.timeIntervalSinceNow > 0, read(milliseconds: 100) else { return nil }
    }
  }

  /// Waits for the program to exit, and returns its status; `nil` if it doesn't exit.
  func status(seconds: Double = 300) -> Int32? {
    let end = Date().addingTimeInterval(seconds)
    var status: Int32 = 0
    while end.timeIntervalSinceNow > 0 {
      _ = read(milliseconds: 50)
      if waitpid(process, &status, WNOHANG) == process {
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
      }
    }
    return nil
  }

  /// Reads available output; returns `false` if the program has closed the terminal.
  private func read(milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, milliseconds) > 0 else { return true }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = Foundation.read(terminal, &bytes, bytes.count)
    guard count > 0 else { return false }
    received += String(decoding: bytes[..<count], as: UTF8.self)
      .replacingOccurrences(of: "\r\n", with: "\n")
    return true
  }
}
