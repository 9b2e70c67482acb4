import Foundation

/// Shows long answers one screen at a time.
///
/// Nothing is started for it: the keys are read here, in a terminal that hands them over one by one.
struct Pager {
  private let console: Console

  init(_ console: Console) {
    self.console = console
  }

  /// Shows lines, and stops at the end of each screen until a key is pressed.
  func show(_ lines: [String]) {
    guard let size = Pager.screen, Pager.height(of: lines[...], on: size) >= size.rows else {
      console.say(lines)
      return
    }
    var rest = lines[...]
    var room = size.rows - 1
    while !rest.isEmpty {
      var count = 0
      while count < rest.count, Pager.height(of: rest.prefix(count + 1), on: size) <= room {
        count += 1
      }
      console.say(Array(rest.prefix(max(1, count))))
      rest = rest.dropFirst(max(1, count))
      guard !rest.isEmpty else { return }
      console.show(passing: Messages.more)
      let key = Pager.key()
      console.show(passing: nil)
      switch key {
      case UInt8(ascii: " "): room = size.rows - 1
      case UInt8(ascii: "\r"), UInt8(ascii: "\n"): room = 1
      default: return
      }
    }
  }

  /// Lines of the screen that a text takes.
  private static func height(
    of lines: ArraySlice<String>, on size: (rows: Int, columns: Int)
  ) -> Int {
    lines.reduce(0) { $0 + max(1, ($1.count + size.columns - 1) / size.columns) }
  }

  /// The terminal's size; nil where there is none, or one that does not tell.
  private static var screen: (rows: Int, columns: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 2, size.ws_col > 0
    else { return nil }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// One key, not shown; Ctrl-C is a key here.
  ///
  /// Nil at the end of the input.
  private static func key() -> UInt8? {
    var before = termios()
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
    var raw = before
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      return count == 1 ? byte : nil
    }
  }
}
