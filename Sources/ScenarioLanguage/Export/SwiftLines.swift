import OpenCoreData

/// Lines of a Swift file, two spaces a level.
struct SwiftLines {
  private(set) var lines: [String] = []
  private var depth = 0

  init(depth: Int = 0) {
    self.depth = depth
  }

  /// A line as it is.
  mutating func line(_ text: String) {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
  }

  /// A comment, on one line whatever the text holds: behind a line end its rest would be code.
  mutating func comment(_ text: String, marks: String = "//") {
    line("\(marks) \(SwiftLines.oneLine(text))")
  }

  /// A text whose line ends are blanks, without characters that would hide code from a reader.
  static func oneLine(_ text: String) -> String {
    PrintableText.line(text.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  /// Lines as they are.
  mutating func add(_ texts: [String]) {
    for text in texts { line(text) }
  }

  /// An empty line, but for the first of a block.
  mutating func gap() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{") else { return }
    lines.append("")
  }

  /// Lines between braces.
  mutating func block(_ head: String, _ body: (inout SwiftLines) -> Void) {
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }
}
