import Foundation
import ScenarioLanguage
import WorkbenchText
internal import Yams

extension YAMLDocument {
  /// Returns the root of the document, or records a problem and returns `nil` if the text isn't
  /// valid YAML.
  func root(of text: String) -> Node? {
    guard checkDepth(of: text), checkAliases(of: text) else { return nil }
    do {
      if let root = try Yams.compose(yaml: text) {
        return checkSize(of: root) ? merged(root) : nil
      }
      report(
        LanguageProblem(
          "the file is empty", at: SourceRange(line: 1, column: 1),
          nextStep: "start with `name:`"), at: "")
    } catch let error as YamlError {
      report(problem(error), at: "")
    } catch {
      report(
        LanguageProblem(
          "invalid YAML: \(error)", at: SourceRange(line: 1, column: 1),
          nextStep: "save it as UTF-8"), at: "")
    }
    return nil
  }

  /// Checks the file size and the nesting depth before any recursive parsing.
  private func checkDepth(of text: String) -> Bool {
    guard text.utf8.count <= InputLimits.scenarioSize else {
      report(
        LanguageProblem(
          "the file is too large; the limit is \(NumberText.grouped(InputLimits.scenarioSize)) bytes",
          at: SourceRange(line: 1, column: 1), nextStep: "split it into several scenarios"),
        at: "")
      return false
    }
    var depth = 0
    var dashes = 0
    for (offset, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "\n"): dashes = 0
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(0, depth - 1)
      case UInt8(ascii: "-"), UInt8(ascii: "?"): dashes += 1
      default: break
      }
      guard depth <= InputLimits.scenarioDepth else {
        report(
          LanguageProblem(
            "brackets are nested too deeply; the limit is \(InputLimits.scenarioDepth) levels",
            at: YAMLDocument.range(ofByte: offset, in: text),
            nextStep: "look for a bracket that isn't closed"), at: "")
        return false
      }
      guard dashes <= InputLimits.lineIndicators else {
        let limit = NumberText.grouped(InputLimits.lineIndicators)
        report(
          LanguageProblem(
            "the line has too many `-` and `?`; the limit is \(limit)",
            at: YAMLDocument.range(ofByte: offset, in: text),
            nextStep: "write the text in several lines"), at: "")
        return false
      }
    }
    return true
  }

  /// Checks the number of aliases before the document is composed.
  ///
  /// The parser hashes a key that is an alias with its entire expanded value, and nested aliases
  /// multiply. Text that only looks like an alias, in quotes or in a block scalar, also counts if
  /// an anchor has its name, so no alias is missed.
  private func checkAliases(of text: String) -> Bool {
    let bytes = Array(text.utf8)
    var anchors = Set<ArraySlice<UInt8>>()
    var uses: [(name: ArraySlice<UInt8>, offset: Int)] = []
    for (index, byte) in bytes.enumerated() {
      guard byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") else { continue }
      let name = bytes[(index + 1)...].prefix(while: YAMLDocument.isAnchorName)
      guard !name.isEmpty else { continue }
      if byte == UInt8(ascii: "&") { anchors.insert(name) } else { uses.append((name, index)) }
    }
    let aliases = uses.filter { anchors.contains($0.name) }
    guard aliases.count > InputLimits.aliases else { return true }
    report(
      LanguageProblem(
        "the file has too many aliases (`*name`); the limit is \(InputLimits.aliases)",
        at: YAMLDocument.range(ofByte: aliases[InputLimits.aliases].offset, in: text),
        nextStep: "write out the values"), at: "")
    return false
  }

  /// Returns the range of the character that begins at an offset in bytes.
  private static func range(ofByte offset: Int, in text: String) -> SourceRange {
    let before = text.utf8.prefix(offset)
    let lineFeed = UInt8(ascii: "\n")
    let start = before.lastIndex(of: lineFeed).map(before.index(after:)) ?? before.startIndex
    return SourceRange(
      line: before.count { $0 == lineFeed } + 1,
      column: String(decoding: before[start...], as: UTF8.self).count + 1)
  }

  private static func isAnchorName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// Checks the number of values, with aliases expanded, against the limit.
  private func checkSize(of root: Node) -> Bool {
    var waiting = [root]
    var count = 0
    while let node = waiting.popLast() {
      count += 1
      guard count + waiting.count <= InputLimits.expandedValues else {
        report(
          LanguageProblem(
            "the file has too many values; an alias counts as its expanded value, and the limit is "
              + NumberText.grouped(InputLimits.expandedValues),
            at: range(of: node), nextStep: "split it into several scenarios"), at: "")
        return false
      }
      if let mapping = node.mapping {
        for (key, value) in mapping { waiting += [key, value] }
      } else if let sequence = node.sequence {
        waiting += Array(sequence)
      }
    }
    return true
  }

  /// Returns a node whose maps contain the entries of the maps that they merge with `<<`.
  ///
  /// A map's own entries precede merged ones, and those of an earlier map in a list of maps precede
  /// those of a later one. An entry keeps the source range where it's written.
  private func merged(_ node: Node) -> Node {
    if let sequence = node.sequence {
      return .sequence(
        Node.Sequence(sequence.map(merged), sequence.tag, sequence.style, sequence.mark))
    }
    guard let mapping = node.mapping else { return node }
    var entries: [(Node, Node)] = []
    var others: [(Node, Node)] = []
    for (key, value) in mapping {
      let value = merged(value)
      if key.scalar?.string == "<<", word(of: key)?.isQuoted == false {
        others += mergedEntries(value, of: key)
      } else {
        entries.append((key, value))
      }
    }
    var keys = Set(entries.compactMap { $0.0.scalar?.string })
    for (key, value) in others where key.scalar.map({ keys.insert($0.string).inserted }) ?? true {
      entries.append((key, value))
    }
    return .mapping(Node.Mapping(entries, mapping.tag, mapping.style, mapping.mark))
  }

  /// Returns the entries that a map merges, or records a problem if the value isn't a map or a list
  /// of maps.
  private func mergedEntries(_ value: Node, of key: Node) -> [(Node, Node)] {
    let maps = value.sequence.map(Array.init) ?? [value]
    return maps.flatMap { node -> [(Node, Node)] in
      if let mapping = node.mapping { return mapping.map { ($0.key, $0.value) } }
      report(
        LanguageProblem(
          "`<<` needs a map or a list of maps", at: range(of: key),
          nextStep: "write `<<: *name`, where `&name` marks a map"), at: "<<")
      return []
    }
  }

  private func problem(_ error: YamlError) -> LanguageProblem {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let before = context.map { "\($0.text.trimmingCharacters(in: .whitespaces)), " } ?? ""
      // Report unterminated constructs where they begin.
      let begin = problem.contains("end of stream") ? context?.mark : nil
      return LanguageProblem(
        "invalid YAML: \(before)\(problem)", at: range(begin ?? mark, length: 1),
        nextStep: "check this line and the one above it: indentation, quotes, parentheses, `: `; "
          + "inside { }, quote a value that contains a comma or a bracket: \"one of [a, b]\"")
    case .duplicatedKeysInMapping(let duplicates, let context):
      let key = duplicates.first ?? ""
      return LanguageProblem(
        "duplicate key `\(key)`", at: range(context.mark, length: key.count),
        nextStep: "remove one of them")
    case .reader(let problem, let offset, _, let yaml):
      let bytes = yaml.utf8.prefix(offset ?? 0)
      let line = bytes.count { $0 == UInt8(ascii: "\n") } + 1
      let column =
        String(
          decoding: bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .last ?? bytes[...], as: UTF8.self
        ).count + 1
      return LanguageProblem(
        "invalid YAML: \(problem)", at: SourceRange(line: line, column: column),
        nextStep: "remove the character")
    default:
      return LanguageProblem(
        "invalid YAML: \(error)", at: SourceRange(line: 1, column: 1),
        nextStep: "save it as UTF-8")
    }
  }
}
