import Foundation

/// Finds the `public`, `open` and `package` declarations of a file and what stands above them.
///
/// Three need no comment of their own: overrides and the requirements of the standard library's
/// protocols, whose meaning is known; an initialiser whose labels are all properties of the file;
/// and a line in an unbroken run of one-line properties or cases whose first is documented.
struct DeclarationScanner {
  struct Declaration {
    /// Counted from 0.
    let line: Int
    let text: String
    let kind: String
    let name: String
  }

  let file: SourceFile
  let declarations: [Declaration]

  private static let known: Set<String> = [
    "rawValue", "description", "debugDescription", "hash", "encode", "hashValue", "startIndex",
    "endIndex", "localizedDescription", "errorDescription",
  ]

  init(file: SourceFile) {
    self.file = file
    let line =
      /^\s*(?:@[\w.]+(?:\([^)]*\))?\s+)*(?:public|package|open)(?:\(set\))?\s+(?:(?:static|class|final|override|mutating|nonmutating|nonisolated|convenience|required|indirect|lazy|weak|unowned|dynamic|prefix|postfix)(?:\([a-z]+\))?\s+)*(func|var|let|class|struct|enum|protocol|actor|typealias|init|subscript|associatedtype)\b\s*(`?\w+`?|[^\s\w(<]+)?/
    declarations = file.code.enumerated().compactMap { index, text in
      guard let match = try? line.firstMatch(in: text) else { return nil }
      return Declaration(
        line: index, text: file.lines[index].trimmingCharacters(in: .whitespaces),
        kind: String(match.1), name: match.2.map(String.init) ?? "")
    }
  }

  func isDocumented(_ declaration: Declaration) -> Bool {
    if hasComment(above: declaration.line) { return true }
    if Self.known.contains(declaration.name) { return true }
    if declaration.text.contains(/\boverride\b/) { return true }
    if declaration.kind == "func", ["==", "<"].contains(declaration.name) { return true }
    if declaration.kind == "init" { return isMemberwise(declaration) }
    if ["var", "let"].contains(declaration.kind) { return continuesRun(declaration) }
    return false
  }

  private func hasComment(above line: Int) -> Bool {
    var index = line - 1
    while index >= 0 {
      let text = file.lines[index].trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("///") || text.hasSuffix("*/") { return true }
      guard text.hasPrefix("@") || text.hasPrefix("#if") else { return false }
      index -= 1
    }
    return false
  }

  private func isMemberwise(_ declaration: Declaration) -> Bool {
    let signature = file.code[declaration.line...].prefix(20).joined(separator: " ")
      .prefix { $0 != "{" }
    guard let start = signature.firstRange(of: /\binit\b[?]?/)?.upperBound else { return false }
    let labels = signature[start...].matches(of: /[(,]\s*(\w+)(?:\s+\w+)?\s*:/)
    let properties = file.code.joined(separator: "\n")
    return labels.allSatisfy { label in
      ["rawValue", "from"].contains(label.1) || properties.contains("let \(label.1)")
        || properties.contains("var \(label.1)")
    }
  }

  private func continuesRun(_ declaration: Declaration) -> Bool {
    guard declaration.line > 0 else { return false }
    guard let above = declarations.first(where: { $0.line == declaration.line - 1 }) else {
      return false
    }
    return ["var", "let"].contains(above.kind) && isDocumented(above)
  }
}
