import ManagedModel

/// Escapes text for Markdown.
package enum MarkdownText {
  /// Returns text on one line, with Markdown's special characters escaped.
  package static func plain(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n", "\r", "\t": result += " "
      case "<": result += "&lt;"
      case "\\", "`", "*", "_", "[", "]", "#", "~", "&":
        result += "\\"
        result.unicodeScalars.append(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns a code span on one line.
  package static func code(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    let longest = line.unicodeScalars.split { $0 != "`" }.map(\.count).max() ?? 0
    let marks = String(repeating: "`", count: longest + 1)
    let pad = longest > 0 ? " " : ""
    return "\(marks)\(pad)\(line)\(pad)\(marks)"
  }

  /// Returns the lines of a list with an item for each line of text that isn't empty.
  ///
  /// An indented line is an item below the previous one; four spaces would make it code, in which
  /// escapes are shown.
  package static func list(_ text: String) -> [String] {
    text.split(separator: "\n").map { line in
      let item = line.drop { $0 == " " }
      return (item.count < line.count ? "  - " : "- ") + plain(String(item))
    }
  }

  /// Returns a row of a table, with the pipes in its cells escaped, even in code spans.
  package static func row(_ cells: [String]) -> String {
    "| \(cells.map { $0.replacingScalars(["|": "\\|"]) }.joined(separator: " | ")) |"
  }
}
