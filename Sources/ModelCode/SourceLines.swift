import ManagedModel

/// Lines of Swift in the style of the formatter: two spaces per level, 100 columns.
struct SourceLines {
  private(set) var lines: [String] = []
  private var depth = 0

  private static let width = 100

  var text: String {
    lines.joined(separator: "\n") + "\n"
  }

  /// Adds a line.
  mutating func line(_ text: String) {
    lines.append(text.isEmpty ? "" : indent + text)
  }

  /// Adds an empty line, except at the start of a block.
  mutating func gap() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
    lines.append("")
  }

  /// Adds a documentation comment: a summary and an optional discussion, wrapped to the line width.
  ///
  /// Line breaks in names of the model are escaped, because what follows one would be code.
  mutating func comment(_ first: String, _ more: String? = nil) {
    fill(first)
    guard let more else { return }
    line("///")
    fill(more)
  }

  /// Adds lines in braces.
  mutating func block(_ head: String, _ body: (inout SourceLines) -> Void) {
    let count = lines.count + 1
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    if lines.count == count {
      lines[count - 1] += "}"
    } else {
      line("}")
    }
  }

  /// Adds a function without parameters.
  ///
  /// The result of a long declaration is moved to a separate line.
  mutating func block(
    _ head: String, returning result: String, _ body: (inout SourceLines) -> Void
  ) {
    guard indent.count + "\(head) -> \(result) {".count > SourceLines.width else {
      return block("\(head) -> \(result)", body)
    }
    line(head)
    line("  -> \(result)")
    line("{")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }

  /// Adds a block whose declaration has arguments in parentheses, which are moved below it if the
  /// line is too long.
  mutating func block(
    _ head: String, _ arguments: [String], _ end: String, _ body: (inout SourceLines) -> Void
  ) {
    call(head, arguments, end + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }

  /// Adds a getter or setter, on one line if it fits.
  mutating func accessor(_ word: String, _ body: String) {
    let whole = "\(word) { \(body) }"
    if indent.count + whole.count <= SourceLines.width {
      line(whole)
    } else {
      block(word) { $0.line(body) }
    }
  }

  /// Adds a call or a declaration with arguments, wrapped like the formatter does.
  mutating func call(_ head: String, _ arguments: [String], _ end: String = "") {
    let whole = "\(head)(\(arguments.joined(separator: ", ")))\(end)"
    guard indent.count + whole.count > SourceLines.width else { return line(whole) }
    line(head + "(")
    depth += 1
    // The text after a declaration's parameters is on its own line; the end of a call isn't.
    let close = end.isEmpty ? ")" : ""
    var current = ""
    for (index, argument) in arguments.enumerated() {
      let isLast = index + 1 == arguments.count
      let piece = argument + (isLast ? close : ",")
      if !current.isEmpty, indent.count + current.count + 1 + piece.count > SourceLines.width {
        line(current)
        current = ""
      }
      current += (current.isEmpty ? "" : " ") + piece
    }
    line(current)
    depth -= 1
    if close.isEmpty { line(")" + end) }
  }

  private var indent: String {
    String(repeating: "  ", count: depth)
  }

  private mutating func fill(_ text: String) {
    var current = "///"
    for word in PrintableText.line(text).split(separator: " ") {
      if indent.count + current.count + 1 + word.count > SourceLines.width, current != "///" {
        line(current)
        current = "///"
      }
      current += " " + word
    }
    line(current)
  }
}
