import Foundation
import OpenCoreData
import WorkbenchText

/// Shows long output one screen at a time.
///
/// The pager is built in: it doesn't start a process, and reads keys from the terminal in
/// noncanonical mode.
struct Pager {
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  /// Shows lines and waits for a key at the end of each screen.
  ///
  /// - Returns: The key that ended the pager if it's the start of the next line of input;
  ///   otherwise, `nil`.
  func show(_ lines: [String]) -> UInt8? {
    let lines = lines.map(PrintableText.line)
    guard let size = Pager.screen, Pager.height(of: lines[...], on: size) >= size.rows else {
      console.write(lines)
      return nil
    }
    var rest = lines[...]
    var room = size.rows - 1
    while !rest.isEmpty {
      var count = 0
      while count < rest.count, Pager.height(of: rest.prefix(count + 1), on: size) <= room {
        count += 1
      }
      console.write(Array(rest.prefix(max(1, count))))
      rest = rest.dropFirst(max(1, count))
      guard !rest.isEmpty else { return nil }
      console.show(passing: Messages.more)
      let key = Pager.key()
      console.show(passing: nil)
      switch key {
      case .page: room = size.rows - 1
      case .line: room = 1
      case .enough: return nil
      case .typed(let byte): return byte
      case .ended(let signal): TerminalInput.endProgram(signal)
      }
    }
    return nil
  }

  /// The action of a key.
  private enum Key {
    case page
    case line
    case enough
    /// A character, or its first byte, that ends the pager and starts the next line of input.
    case typed(UInt8)
    /// No key: a signal that ends the program arrived.
    case ended(Int32)

    /// - Parameter bytes: The bytes that the key sent: one byte, or an escape sequence.
    init(_ bytes: [UInt8]) {
      switch String(decoding: bytes, as: UTF8.self) {
      case " ", "\u{1B}[6~", "\u{1B}[C", "\u{1B}OC": self = .page
      case "\r", "\n", "\u{1B}[B", "\u{1B}OB": self = .line
      case "q", "Q": self = .enough
      default:
        guard let byte = bytes.first, byte > 0x20, byte != 0x7F else {
          self = .enough
          return
        }
        self = .typed(byte)
      }
    }
  }

  /// Returns the number of screen lines that lines of text occupy.
  private static func height(
    of lines: ArraySlice<String>, on size: (rows: Int, columns: Int)
  ) -> Int {
    lines.reduce(0) { $0 + max(1, (TextWidth.of($1) + size.columns - 1) / size.columns) }
  }

  /// The terminal's size, or `nil` if standard output isn't a terminal, or the size is unknown or
  /// too small for a page.
  static var screen: (rows: Int, columns: Int)? {
    Console.screen(of: STDOUT_FILENO).flatMap { $0.rows > 2 ? $0 : nil }
  }

  /// Reads one key without echoing it.
  ///
  /// Ctrl-C is read as a key instead of sending a signal; the end of the input ends the pager.
  private static func key() -> Key {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return .enough }
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    var isResized = false
    // Readline resizes its line when it waits for a key.
    defer { if isResized { TerminalInput.forward(SIGWINCH) } }
    while let signal = TerminalInput.signalBeforeKey() {
      switch signal {
      case SIGWINCH: isResized = true
      case SIGINT: return .enough
      case SIGTSTP:
        tcsetattr(STDIN_FILENO, TCSANOW, &before)
        Signals.stopProgram()
        tcsetattr(STDIN_FILENO, TCSANOW, &raw)
      default: return .ended(signal)
      }
    }
    guard let first = byte() else { return .enough }
    var bytes = [first]
    // An arrow key sends several bytes at once; none of them may remain for the command line.
    while first == 0x1B, !isWhole(bytes), isWaiting(), let next = byte() { bytes.append(next) }
    return Key(bytes)
  }

  /// Returns whether a key's escape sequence is complete: `ESC [ … letter`, `ESC O letter`, or
  /// `ESC` and any other byte.
  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard bytes.count > 1 else { return false }
    let opens = bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O")
    return !opens || bytes.count > 2 && (0x40...0x7E).contains(bytes[bytes.count - 1])
      || bytes.count > 16
  }

  private static func byte() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      return count == 1 ? byte : nil
    }
  }

  /// Returns whether another byte of the same key arrives within 20 milliseconds.
  private static func isWaiting() -> Bool {
    var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, 20) == 1
  }
}
