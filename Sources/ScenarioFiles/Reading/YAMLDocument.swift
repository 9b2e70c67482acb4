import Foundation
import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// A YAML document being parsed, with the source ranges of its nodes and the problems found so far.
///
/// Scalars keep their source text, so YAML 1.1's `no` is a word until a Boolean value is required.
final class YAMLDocument {
  /// The path of the file as it was given.
  let file: String
  private let lines: [String]
  /// The counts of `characterCounts(ofLine:)` of long lines, which can contain many nodes.
  private var longLines: [Int: [Int]] = [:]
  private var found: [ScenarioDiagnostic] = []
  private var foundInOthers: [ScenarioDiagnostic] = []
  /// The key paths of steps, by the source range of the verb without its length.
  private var stepKeyPaths: [SourceRange: String] = [:]

  /// The names of results whose steps couldn't be parsed.
  ///
  /// Steps that use these names aren't reported.
  var lostNames: Set<String> = []
  /// The line of the first migration that couldn't be parsed.
  ///
  /// Steps after it aren't reported.
  var lostMigration: Int?
  /// The paths of the files that the document includes, including those that can't be read.
  var includedFiles: Set<String> = []
  /// The number of steps that `repeat` blocks add to those in the text.
  var repeatedSteps = 0

  init(text: String, file: String) {
    self.file = file
    lines = Scenario.lines(of: text)
  }

  /// The problems found, in source order, without duplicates; those of other files first.
  var diagnostics: [ScenarioDiagnostic] {
    var seen = Set<String>()
    return
      foundInOthers
      + found
      .enumerated()
      .sorted { first, second in
        (first.element.line, first.element.column, first.offset)
          < (second.element.line, second.element.column, second.offset)
      }
      .map(\.element)
      .filter { seen.insert($0.description).inserted }
  }

  /// Records a problem.
  func report(_ problem: LanguageProblem, at keyPath: String) {
    let index = problem.range.line - 1
    let line = lines.indices.contains(index) ? lines[index] : nil
    found.append(
      ScenarioDiagnostic(file: file, keyPath: keyPath, problem: problem, sourceLine: line))
  }

  /// Records a problem in another file, such as the model.
  func report(
    _ problem: LanguageProblem, inFile file: String, at keyPath: String, sourceLine: String?
  ) {
    foundInOthers.append(
      ScenarioDiagnostic(file: file, keyPath: keyPath, problem: problem, sourceLine: sourceLine))
  }

  /// Records the problems of an included file.
  func adoptProblems(of other: YAMLDocument) {
    foundInOthers += other.diagnostics
  }

  /// Records the key path of a step.
  func setKeyPath(_ keyPath: String, ofStepAt range: SourceRange) {
    stepKeyPaths[range.part(at: 0)] = keyPath
  }

  /// Returns the key path of a step, or an empty string if it isn't recorded.
  func keyPath(of step: Step) -> String {
    stepKeyPaths[step.ranges.verb.part(at: 0)] ?? ""
  }

  /// Runs a closure.
  ///
  /// If it throws a problem, records the problem and returns `nil`.
  func noting<Value>(
    at keyPath: String, _ body: () throws(LanguageProblem) -> Value
  ) -> Value? {
    do {
      return try body()
    } catch {
      report(error, at: keyPath)
      return nil
    }
  }

  /// Returns the source range of a node.
  func range(of node: Node) -> SourceRange {
    guard let mark = node.mark else { return SourceRange(line: 1, column: 1) }
    guard let scalar = node.scalar else { return range(mark, length: 1) }
    switch scalar.style {
    case .singleQuoted, .doubleQuoted: return range(mark, length: scalar.string.count + 2)
    case .literal, .folded: return range(mark, length: 1)
    case .any, .plain: return range(mark, length: scalar.string.count)
    }
  }

  /// Converts a position of libyaml, whose columns count Unicode scalars, to a source range, whose
  /// columns count characters.
  func range(_ mark: Mark, length: Int) -> SourceRange {
    guard lines.indices.contains(mark.line - 1) else {
      return SourceRange(line: max(1, lines.count), column: 1)
    }
    let counts = characterCounts(ofLine: mark.line - 1)
    let before = counts[min(max(0, mark.column - 1), counts.count - 1)]
    let room = max(1, counts[counts.count - 1] - before)
    return SourceRange(line: mark.line, column: before + 1, length: min(length, room))
  }

  /// Returns the number of characters before each Unicode scalar of a line, and of the entire line.
  private func characterCounts(ofLine index: Int) -> [Int] {
    if let counts = longLines[index] { return counts }
    var counts = [0]
    for (number, character) in lines[index].enumerated() {
      for _ in character.unicodeScalars { counts.append(number + 1) }
    }
    if counts.count > 100 { longLines[index] = counts }
    return counts
  }

  /// Returns the text of a scalar with its source range, or `nil` for maps and lists.
  func word(of node: Node) -> Word? {
    guard let scalar = node.scalar else { return nil }
    let isQuoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
    let range = range(of: node)
    return Word(
      scalar.string, at: range, isQuoted: isQuoted,
      positions: ScalarPositions(scalar, at: range, in: lines).all)
  }

  /// Returns whether a node has no value: only `key:`, `~`, or `null`.
  func isEmpty(_ node: Node) -> Bool {
    guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else {
      return false
    }
    return scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null"
  }
}

extension YAMLDocument {
  /// Returns the entries of a map, or records a problem and returns `nil` if the node isn't a map.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - keyPath: The node's key path, for errors.
  ///   - known: The valid keys; other keys are reported. Pass `nil` to allow any key.
  ///   - what: What the map describes, for errors.
  func entries(
    of node: Node, at keyPath: String, known: [String]?, what: String
  ) -> [YAMLEntry]? {
    guard let mapping = node.mapping else {
      report(
        LanguageProblem(
          "\(what) must be a map of keys and values", at: range(of: node),
          nextStep: "write `key: value` pairs"
            + (known.map { ": \($0.joined(separator: ", "))" } ?? "")
        ), at: keyPath)
      return nil
    }
    var entries = [YAMLEntry]()
    for (keyNode, value) in mapping {
      guard let key = word(of: keyNode) else {
        report(
          LanguageProblem(
            "a key must be a single word", at: range(of: keyNode), nextStep: "write `key: value`"),
          at: keyPath)
        continue
      }
      let path = keyPath.isEmpty ? key.text : "\(keyPath).\(key.text)"
      guard known?.contains(key.text) ?? true else {
        report(
          LanguageProblem(
            "\(what) has no key `\(key.text)`", at: key.range,
            didYouMean: NearestName.of(key.text, among: known ?? []),
            nextStep: "use one of: \((known ?? []).joined(separator: ", "))"), at: path)
        continue
      }
      entries.append(YAMLEntry(key: key, node: value, keyPath: path))
    }
    return entries
  }

  /// Returns a map without the keys that begin with `x-`, whose values are only read where an alias
  /// refers to them.
  ///
  /// Returns other nodes unchanged.
  func withoutExtensions(_ node: Node) -> Node {
    guard let mapping = node.mapping else { return node }
    let entries = mapping.filter { word(of: $0.key)?.text.hasPrefix("x-") != true }
    return .mapping(
      Node.Mapping(
        entries.map { ($0.key, $0.value) }, mapping.tag, mapping.style, mapping.mark))
  }

  /// Returns the text of an entry, or records a problem and returns `nil` if the entry has none.
  func text(of entry: YAMLEntry, wanted: String = "text") -> Word? {
    guard let word = word(of: entry.node), !isEmpty(entry.node) else {
      let range = isEmpty(entry.node) ? entry.key.range : range(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs \(wanted)", at: range,
          nextStep: "write `\(entry.key.text): …`"), at: entry.keyPath)
      return nil
    }
    return word
  }

  /// Returns a nonnegative integer, or records a problem and returns `nil` if the entry isn't one.
  func number(of entry: YAMLEntry) -> Int? {
    guard let word = text(of: entry, wanted: "an integer") else { return nil }
    guard let number = Int(word.text), number >= 0 else {
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs an integer from 0 to \(Int.max), not `\(word.text)`",
          at: word.range,
          nextStep: "write, for example, `\(entry.key.text): 7`"), at: entry.keyPath)
      return nil
    }
    return number
  }

  /// Returns the elements of a list with their key paths.
  ///
  /// A single value counts as a list of one.
  func elements(of entry: YAMLEntry) -> [(node: Node, keyPath: String)] {
    if let sequence = entry.node.sequence {
      return sequence.enumerated().map { ($0.element, "\(entry.keyPath)[\($0.offset)]") }
    }
    return isEmpty(entry.node) ? [] : [(entry.node, entry.keyPath)]
  }

  /// Returns the elements of a list, or records a problem and returns `nil` if the entry isn't a
  /// list.
  func list(of entry: YAMLEntry, what: String) -> [(node: Node, keyPath: String)]? {
    guard entry.node.sequence != nil else {
      let range = isEmpty(entry.node) ? entry.key.range : range(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` must be a list of \(what)", at: range,
          nextStep: "start each element with `- ` on its own line, or write [ … ]"),
        at: entry.keyPath)
      return nil
    }
    return elements(of: entry)
  }

  /// Returns the words of a list or of a single value.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - split: Returns the words of one element.
  func words(
    of entry: YAMLEntry, _ split: (Word) throws(LanguageProblem) -> [Word] = { [$0] }
  ) throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    for (node, keyPath) in elements(of: entry) {
      guard let word = word(of: node) else {
        report(
          LanguageProblem(
            "expected a word", at: range(of: node),
            nextStep: "write words, not maps or lists"
          ), at: keyPath)
        continue
      }
      guard !word.text.isEmpty else {
        throw LanguageProblem(
          "the word is empty", at: word.range, nextStep: "write a word or remove the quotes")
      }
      words += try split(word)
    }
    return words
  }

  /// Returns the source of an expectation, or records a problem and returns `nil` if it's missing
  /// or unknown.
  func sourceMark(of entry: YAMLEntry) -> SourceMark? {
    guard let word = text(of: entry, wanted: "a source") else { return nil }
    if let mark = SourceMark(rawValue: word.text) { return mark }
    let known = SourceMark.allCases.map(\.rawValue)
    report(
      LanguageProblem(
        "unknown source `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: known),
        nextStep: "write one of: \(known.joined(separator: ", "))"), at: entry.keyPath)
    return nil
  }
}

/// A key of a YAML map, with its value.
struct YAMLEntry {
  let key: Word
  let node: Node
  /// The key path from the root, such as `data.Mood.count`.
  let keyPath: String
}
