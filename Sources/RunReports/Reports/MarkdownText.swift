/// Texts as Markdown shows them unchanged.
enum MarkdownText {
  /// Running text, on one line.
  static func plain(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n", "\r", "\t": result += " "
      case "<": result += "&lt;"
      case "\\", "`", "*", "_", "[", "]", "|", "#", "~", "&":
        result += "\\"
        result.unicodeScalars.append(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Code on one line, in as many backticks as it needs; fit for a cell of a table.
  static func code(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
      .replacing("|", with: "\\|")
    let longest = line.matches(of: /`+/).map { $0.0.count }.max() ?? 0
    let marks = String(repeating: "`", count: longest + 1)
    let pad = longest > 0 ? " " : ""
    return "\(marks)\(pad)\(line)\(pad)\(marks)"
  }

  /// A row of a table.
  static func row(_ cells: [String]) -> String {
    "| \(cells.joined(separator: " | ")) |"
  }
}
