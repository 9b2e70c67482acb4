import Foundation

/// The raw values of an enum in Sources, read from its source text.
struct StringEnum {
  let words: [String]

  /// - Parameter declaration: The source text of the declaration, such as `enum Verb: String`.
  init?(_ declaration: String) {
    for file in Repository.sources {
      guard let start = file.code.firstIndex(where: { $0.contains(declaration) }) else { continue }
      let indent = file.code[start].prefix { $0 == " " }
      let end = file.code[start...].firstIndex(of: indent + "}") ?? file.code.endIndex
      words = file.lines[start..<end].flatMap { line -> [String] in
        guard let cases = line.firstMatch(of: /^\s*case (\w.*)$/), line.hasPrefix(indent + "  case")
        else { return [] }
        return cases.1.matches(of: /(\w+)(?: = "?([\w. !-]+?)"?)?(?:,|$|\s*\/\/)/)
          .map { String($0.2 ?? $0.1) }
      }
      return
    }
    return nil
  }
}
