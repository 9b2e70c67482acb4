import Foundation

/// Finds the `public`, `open`, and `package` declarations of a file and their doc comments.
///
/// Some declarations don't need a comment, because it could only repeat the name:
/// - overrides, and the requirements of the standard library's protocols;
/// - an initializer whose parameters are all properties of the file;
/// - a `package` stored property on one line, and a `public` one in an unbroken run of lines whose
///   first is documented: the type's comment describes them.
struct DeclarationScanner {
  struct Declaration {
    /// The zero-based line number.
    let line: Int
    let text: String
    /// `public`, `open`, or `package`.
    let access: String
    let kind: String
    let name: String
  }

  let file: SourceFile
  let declarations: [Declaration]

  private static let known: Set<String> = [
    "rawValue", "description", "debugDescription", "hash", "encode", "hashValue", "next",
    "startIndex",
    "endIndex", "localizedDescription", "errorDescription",
  ]

  init(file: SourceFile) {
    self.file = file
    let line =
      /^\s*(?:@[\w.]+(?:\([^)]*\))?\s+)*(public|package|open)(?:\(set\))?\s+(?:(?:static|class|final|override|mutating|nonmutating|nonisolated|convenience|required|indirect|lazy|weak|unowned|dynamic|prefix|postfix)(?:\([a-z]+\))?\s+)*(func|var|let|class|struct|enum|protocol|actor|typealias|init|subscript|associatedtype)\b\s*(`?\w+`?|[^\s\w(]+)?/
      .wordBoundaryKind(.simple)
    declarations = file.code.enumerated().compactMap { index, text in
      guard let match = try? line.firstMatch(in: text) else { return nil }
      return Declaration(
        line: index, text: file.lines[index].trimmingCharacters(in: .whitespaces),
        access: String(match.1), kind: String(match.2), name: match.3.map(String.init) ?? "")
    }
  }

  func isDocumented(_ declaration: Declaration) -> Bool {
    if hasComment(above: declaration.line) { return true }
    if Self.known.contains(declaration.name) { return true }
    if declaration.text.contains("override ") { return true }
    if declaration.kind == "func", ["==", "<"].contains(declaration.name) { return true }
    if declaration.kind == "init" { return isMemberwise(declaration) }
    return isStored(declaration)
      && (declaration.access == "package" || continuesRun(declaration))
  }

  private func hasComment(above line: Int) -> Bool {
    var index = line - 1
    while index >= 0 {
      let text = file.lines[index].trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("///") || text.hasSuffix("*/") { return true }
      guard text.hasPrefix("@") || text.hasPrefix("#if") || text.hasPrefix("//") else {
        return false
      }
      index -= 1
    }
    return false
  }

  private func isMemberwise(_ declaration: Declaration) -> Bool {
    let signature = file.code[declaration.line...].prefix(20).joined(separator: " ")
      .prefix { $0 != "{" }
    guard let start = signature.firstRange(of: /\binit\b[?]?/.wordBoundaryKind(.simple))?.upperBound
    else { return false }
    let names = signature[start...].matches(of: /[(,]\s*(?:\w+\s+)?(\w+)\s*:/)
    let properties = file.code.joined(separator: "\n")
    return names.allSatisfy { name in
      ["rawValue", "from", "decoder"].contains(name.1)
        || properties.contains("let \(name.1)") || properties.contains("var \(name.1)")
    }
  }

  /// Whether a declaration is a stored property: its line contains no brace.
  private func isStored(_ declaration: Declaration) -> Bool {
    ["var", "let"].contains(declaration.kind) && !file.code[declaration.line].contains("{")
  }

  private func continuesRun(_ declaration: Declaration) -> Bool {
    guard declaration.line > 0 else { return false }
    guard let above = declarations.first(where: { $0.line == declaration.line - 1 }) else {
      return false
    }
    return isStored(above) && isDocumented(above)
  }
}
