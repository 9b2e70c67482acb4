/// The text of a man page in the macros of man(7), which man-db and mandoc read.
///
/// Text may contain Markdown's code, bold text, and links: code and bold text are bold, and a link
/// is its text.
struct ManualText {
  private(set) var text: String

  /// Creates the text with its heading.
  ///
  /// - Parameters:
  ///   - title: The name of the page.
  ///   - source: The program and its version, for the footer.
  init(title: String, source: String) {
    text = ".TH \"\(Self.escaped(title.uppercased()))\" 1 \"\" \"\(Self.escaped(source))\"\n"
    // Left-aligned, without hyphenation, so that names of options stay whole.
    text += ".nh\n.ad l\n"
  }

  /// Adds the section NAME, from which `apropos` takes its line.
  mutating func name(_ name: String, _ abstract: String?) {
    section("NAME")
    let abstract = abstract ?? ""
    line("\(Self.escaped(name)) \\- \(Self.formatted(abstract.withoutFinalPeriod))")
  }

  /// Adds the heading of a section.
  mutating func section(_ name: String) {
    text += ".SH \"\(name)\"\n"
  }

  /// Adds a synopsis, with the words of the command in bold.
  mutating func synopsis(_ synopsis: String) {
    let words = synopsis.split(separator: " ")
    let command = words.prefix { $0.allSatisfy { $0.isLowercase } }
    let rest = words.dropFirst(command.count).joined(separator: " ")
    line("\\fB\(Self.escaped(command.joined(separator: " ")))\\fR \(Self.escaped(rest))")
  }

  /// Adds paragraphs, which are separated by empty lines.
  mutating func paragraphs(_ paragraphs: String) {
    for paragraph in paragraphs.split(separator: "\n\n") {
      text += ".PP\n"
      line(Self.formatted(String(paragraph).replacing("\n", with: " ")))
    }
  }

  /// Adds lines as they are.
  mutating func verbatim(_ lines: String) {
    text += ".PP\n.nf\n"
    for one in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      line(Self.escaped(String(one)))
    }
    text += ".fi\n"
  }

  /// Adds a term and its description.
  mutating func item(_ term: String, _ description: String) {
    text += ".TP\n"
    line(Self.formatted(term))
    line(Self.formatted(description.isEmpty ? "–" : description))
  }

  /// Adds an argument with its names, its description, its values, and its default value.
  mutating func argument(_ argument: ProgramHelp.Argument) {
    let value = argument.valueName ?? ""
    var term = (argument.names ?? []).map { "**\($0.text)**" }.joined(separator: ", ")
    switch argument.kind {
    case .positional: term = value.uppercased()
    case .option: term += " \(value.uppercased())"
    case .flag: break
    }
    var description = argument.abstract ?? ""
    if let values = argument.allValues, !values.isEmpty {
      description += " Values: \(values.map { "`\($0)`" }.joined(separator: ", "))."
    }
    if argument.kind != .flag, let value = argument.defaultValue, !value.isEmpty {
      description += " Default: `\(value)`."
    }
    item(term, description)
  }

  /// Adds references to other pages.
  mutating func references(_ names: [String]) {
    line(names.map { "\\fB\(Self.escaped($0))\\fR(1)" }.joined(separator: ", "))
  }

  /// Adds a line that isn't a request, even if it begins like one.
  private mutating func line(_ line: String) {
    text += (line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : "") + line + "\n"
  }

  /// Returns Markdown as text with fonts.
  static func formatted(_ markdown: String) -> String {
    let plain = markdown.replacing(/\[([^\]]+)\]\([^)]+\)/) { $0.1 }
    var result = ""
    var rest = plain[...]
    while let match = rest.firstMatch(of: /`([^`]+)`|\*\*([^*]+)\*\*/) {
      result += escaped(String(rest[..<match.range.lowerBound]))
      result += "\\fB\(escaped(String(match.1 ?? match.2 ?? "")))\\fR"
      rest = rest[match.range.upperBound...]
    }
    return result + escaped(String(rest))
  }

  /// Returns text whose backslashes, hyphens, and quotation marks are printed as they are.
  static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
      .replacing("\"", with: "\\(dq").replacing("`", with: "\\(ga").replacing("^", with: "\\(ha")
      .replacing("~", with: "\\(ti").replacing("…", with: "...").replacing("–", with: "\\(en")
      .replacing("·", with: "\\(pc")
  }
}

extension String {
  /// The string without its final period, as in the section NAME.
  fileprivate var withoutFinalPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
