import Foundation
import Testing

@Suite("Source rules of CONTRIBUTING.md")
struct SourceRulesTests {
  @Test func sourcesHaveUpTo400LinesAndTestsUpTo500() {
    for (files, limit) in [(Repository.sources, 400), (Repository.tests, 500)] {
      for file in files {
        #expect(
          file.lines.count <= limit + 1,
          "\(file.path) has \(file.lines.count - 1) lines; split it")
      }
    }
  }

  /// The formatter limits the length of lines of code, but not of comments and string literals.
  ///
  /// The lines of a multiline literal may have any length, and in tests, also those with another
  /// literal. A link in a comment can't be wrapped.
  @Test func commentsHaveUpTo100CharactersInALineAndLiterals110() {
    for file in Repository.sources + Repository.tests {
      for (index, line) in file.lines.enumerated() where line.utf8.count > 100 && line.count > 100 {
        let isInLiteral = file.code[index].allSatisfy(\.isWhitespace)
        if line.drop(while: \.isWhitespace).hasPrefix("//"), isInLiteral, !line.contains("://") {
          Issue.record("\(file.location(index)): the comment has \(line.count) characters")
        } else if line.count > 110, !isInLiteral, file.path.hasPrefix("Sources/") {
          Issue.record("\(file.location(index)): the line has \(line.count) characters")
        }
      }
    }
  }

  /// Relies on the formatter: a body ends at the first brace with the indentation of its
  /// declaration.
  @Test func noFunctionIsOver60Lines() {
    let start = /^(\s*)(?:[\w@()]+\s+)*(?:func\s|init\b|subscript\b)/
      .wordBoundaryKind(.simple)
    for file in Repository.sources {
      for (index, line) in file.code.enumerated() {
        guard let match = try? start.firstMatch(in: line) else { continue }
        let end = String(match.1) + "}"
        let rest = file.code[(index + 1)...]
        guard opensBody(file.code, at: index), let last = rest.firstIndex(of: end) else { continue }
        #expect(
          last - index - 1 <= 60, "\(file.location(index)): the body has \(last - index - 1) lines")
      }
    }
  }

  /// Whether a declaration has an opening brace before the next blank line or closing brace.
  private func opensBody(_ code: [String], at index: Int) -> Bool {
    for line in code[index...].prefix(12) {
      if line.hasSuffix("{") { return true }
      if line.trimmingCharacters(in: .whitespaces).isEmpty || line.hasSuffix("}") { return false }
    }
    return false
  }

  @Test func noSourceIsMarkedUnfinished() {
    let words = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|unimplemented/
      .wordBoundaryKind(.simple)
    for file in Repository.sources where file.text.contains(words) {
      for (index, line) in file.lines.enumerated() where line.contains(words) {
        Issue.record("\(file.location(index)): \(line.trimmingCharacters(in: .whitespaces))")
      }
    }
  }

  @Test func sourcesContainNoForcedTriesOrCasts() {
    let forced = /\btry!|\bas!\s/.wordBoundaryKind(.simple)
    for file in Repository.sources {
      for location in file.locations(of: forced) {
        Issue.record("\(location): throw an error, or call fatalError with a message")
      }
    }
  }

  /// Release builds print no message of a precondition.
  @Test func programmerErrorsPrintTheirMessageInReleaseBuilds() {
    let silent = /\b(precondition|preconditionFailure|assertionFailure)\(|\bfatalError\(\)/
      .wordBoundaryKind(.simple)
    // Checks of the framework's own invariants, in its fastest code.
    let exceptions: Set<String> = ["Row", "ObjectValues"]
    for file in Repository.sources where !exceptions.contains(file.name) {
      for location in file.locations(of: silent) {
        Issue.record("\(location): call fatalError with a message")
      }
    }
  }

  @Test func uncheckedSendableStatesItsGuard() {
    for file in Repository.sources {
      for (index, line) in file.code.enumerated() where line.contains("@unchecked Sendable") {
        let before = file.lines[..<index].suffix(12)
        let explained = before.contains { $0.contains("//") } || file.lines[index].contains("//")
        #expect(explained, "\(file.location(index)): no comment states what protects it")
      }
    }
  }

  @Test func fileNamesMatchTheirDeclarations() {
    let banned: Set<String> = [
      "Utils", "Utilities", "Helper", "Helpers", "Extensions", "Types", "Common", "Misc", "Shared",
    ]
    for file in Repository.sources + Repository.tests where !file.isGenerated {
      let parts = file.name.split(separator: "+").map(String.init)
      #expect(banned.isDisjoint(with: parts), "\(file.path): the name is too general")
      #expect(declares(file, parts), "\(file.path) doesn't declare \(parts.first ?? "")")
    }
  }

  /// Whether a file contains the declaration it's named after.
  ///
  /// `Type` and `Outer.Inner` declare or extend the type; `Type+Flow` extends it; `KeyRules` and
  /// `OptionChecks` declare several rules or checks.
  private func declares(_ file: SourceFile, _ parts: [String]) -> Bool {
    guard let type = parts.first?.split(separator: ".").last.map(String.init) else { return false }
    if parts == ["Exports"] || parts == ["main"] { return true }
    if parts.count == 1, type.hasSuffix("Rules") || type.hasSuffix("Checks"),
      file.code.filter({ $0.contains(/^(?:\w+ )*(?:struct|enum) \w+(?:Rule|Check)\b/) }).count > 1
    {
      return true
    }
    let anyType = /^(?:\w+ )*(?:class|struct|enum|protocol|actor|typealias)\s/
    if file.name.hasSuffix("Tests"), file.code.contains(where: { $0.contains("@Test") }) {
      return true
    }
    // A file of constants or functions, without a type of its own, can't be named after one.
    if parts.count == 1, !file.code.contains(where: { $0.firstMatch(of: anyType) != nil }),
      file.code.contains(where: { $0.firstMatch(of: /^(?:\w+ )*(?:let|func) \w/) != nil })
    {
      return true
    }
    let kinds =
      parts.count == 1 ? "class|struct|enum|protocol|actor|typealias|extension" : "extension"
    guard
      let line = try? Regex("\\b(?:\(kinds))\\s+(?:[A-Za-z0-9_]+\\.)*`?\(type)\\b")
        .wordBoundaryKind(.simple)
    else { return false }
    return file.code.contains { $0.firstMatch(of: line) != nil }
  }
}
