import Foundation
import OpenCoreData
import WorkbenchText
internal import Yams

/// A YAML text while it is read: places of its nodes, and what was found to be wrong so far.
///
/// Values are taken as they are written, so that YAML 1.1's `no` is a word until something wants a flag.
final class YAMLDocument {
  /// The file as it was given.
  let file: String
  private let lines: [String]
  private var found: [ScenarioDiagnostic] = []
  /// By the place of a step's verb, its length left out: the step's key path.
  private var stepKeyPaths: [SourceRange: String] = [:]

  /// The names of results whose steps could not be read.
  ///
  /// Steps that use them are not to blame.
  var lostNames: Set<String> = []

  /// Files longer than this are refused, in bytes; the longest real scenario has a few kilobytes.
  static let maximumSize = 4_000_000
  /// Brackets inside each other; more is refused rather than overflowing the parser's stack.
  static let maximumDepth = 100

  init(text: String, file: String) {
    self.file = file
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.hasSuffix("\r") ? String(line.dropLast()) : String(line)
    }
  }

  /// What was found, in the order of the text, the same thing once.
  var diagnostics: [ScenarioDiagnostic] {
    var seen = Set<String>()
    return
      found
      .enumerated()
      .sorted { first, second in
        (first.element.line, first.element.column, first.offset)
          < (second.element.line, second.element.column, second.offset)
      }
      .map(\.element)
      .filter { seen.insert($0.description).inserted }
  }

  /// Notes a problem.
  func report(_ problem: LanguageProblem, at keyPath: String) {
    let index = problem.place.line - 1
    let line = lines.indices.contains(index) ? lines[index] : nil
    found.append(
      ScenarioDiagnostic(file: file, keyPath: keyPath, problem: problem, sourceLine: line))
  }

  /// Notes where in the tree a step is written.
  func setKeyPath(_ keyPath: String, ofStepAt place: SourceRange) {
    stepKeyPaths[place.part(at: 0)] = keyPath
  }

  /// The key path of the step whose verb is written at a place; empty when there is none.
  func keyPath(of step: Step) -> String {
    stepKeyPaths[step.places.verb.part(at: 0)] ?? ""
  }

  /// Runs a body and notes the problem it throws; nil then.
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

  /// Where a node begins.
  func place(of node: Node) -> SourceRange {
    guard let mark = node.mark else { return SourceRange(line: 1, column: 1) }
    guard let scalar = node.scalar else { return place(mark, length: 1) }
    switch scalar.style {
    case .singleQuoted, .doubleQuoted: return place(mark, length: scalar.string.count + 2)
    case .literal, .folded: return place(mark, length: 1)
    case .any, .plain: return place(mark, length: scalar.string.count)
    }
  }

  /// A place of libyaml's: columns in Unicode scalars become columns in characters.
  func place(_ mark: Mark, length: Int) -> SourceRange {
    guard lines.indices.contains(mark.line - 1) else {
      return SourceRange(line: max(1, lines.count), column: 1)
    }
    let line = lines[mark.line - 1]
    let scalars = line.unicodeScalars.prefix(max(0, mark.column - 1))
    let column = String(String.UnicodeScalarView(scalars)).count + 1
    let room = max(1, line.count - column + 1)
    return SourceRange(line: mark.line, column: column, length: min(length, room))
  }

  /// The text of a scalar with its place; nil for maps and lists.
  func word(of node: Node) -> Word? {
    guard let scalar = node.scalar else { return nil }
    let isQuoted = scalar.style == .singleQuoted || scalar.style == .doubleQuoted
    return Word(scalar.string, at: place(of: node), isQuoted: isQuoted)
  }

  /// Whether a node says nothing: `key:` alone, or `null`.
  func isEmpty(_ node: Node) -> Bool {
    guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else {
      return false
    }
    return scalar.string.isEmpty || scalar.string == "~" || scalar.string == "null"
  }
}

extension YAMLDocument {
  /// The keys of a map; nil when the node is none, which is noted.
  ///
  /// - Parameters:
  ///   - known: the keys there may be; others are noted. Nil for any.
  ///   - what: what the map is, for the error.
  func entries(
    of node: Node, at keyPath: String, known: [String]?, what: String
  ) -> [YAMLEntry]? {
    guard let mapping = node.mapping else {
      report(
        LanguageProblem(
          "\(what) is a map of keys and values", at: place(of: node),
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
            "a key is a word", at: place(of: keyNode), nextStep: "write `key: value`"), at: keyPath)
        continue
      }
      let path = keyPath.isEmpty ? key.text : "\(keyPath).\(key.text)"
      guard known?.contains(key.text) ?? true else {
        report(
          LanguageProblem(
            "\(what) has no key `\(key.text)`", at: key.place,
            didYouMean: NearestName.of(key.text, among: known ?? []),
            nextStep: "its keys are: \((known ?? []).joined(separator: ", "))"), at: path)
        continue
      }
      entries.append(YAMLEntry(key: key, node: value, keyPath: path))
    }
    return entries
  }

  /// The text of an entry; nil when it is none, which is noted.
  func text(of entry: YAMLEntry, wanted: String = "a text") -> Word? {
    guard let word = word(of: entry.node), !isEmpty(entry.node) else {
      let place = isEmpty(entry.node) ? entry.key.place : place(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs \(wanted)", at: place,
          nextStep: "write `\(entry.key.text): …`"), at: entry.keyPath)
      return nil
    }
    return word
  }

  /// An integer, not negative; nil when it is none, which is noted.
  func number(of entry: YAMLEntry) -> Int? {
    guard let word = text(of: entry, wanted: "an integer") else { return nil }
    guard let number = Int(word.text), number >= 0 else {
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs an integer up to \(Int.max), not `\(word.text)`",
          at: word.place,
          nextStep: "write, for example, `\(entry.key.text): 7`"), at: entry.keyPath)
      return nil
    }
    return number
  }

  /// The elements of a list with their key paths; a single value counts as a list of one.
  func elements(of entry: YAMLEntry) -> [(node: Node, keyPath: String)] {
    if let sequence = entry.node.sequence {
      return sequence.enumerated().map { ($0.element, "\(entry.keyPath)[\($0.offset)]") }
    }
    return isEmpty(entry.node) ? [] : [(entry.node, entry.keyPath)]
  }

  /// The elements of what must be a list; nil when it is none, which is noted.
  func list(of entry: YAMLEntry, what: String) -> [(node: Node, keyPath: String)]? {
    guard entry.node.sequence != nil else {
      let place = isEmpty(entry.node) ? entry.key.place : place(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` is a list of \(what)", at: place,
          nextStep: "start each with `- ` on its own line, or write [ … ]"), at: entry.keyPath)
      return nil
    }
    return elements(of: entry)
  }

  /// Words of a list or of a single text, where `a, b` in one text is two.
  func words(of entry: YAMLEntry, splitting: Bool) throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    for (node, keyPath) in elements(of: entry) {
      guard let word = word(of: node) else {
        report(
          LanguageProblem(
            "a word is expected here", at: place(of: node),
            nextStep: "write words, not maps or lists"
          ), at: keyPath)
        continue
      }
      guard !word.text.isEmpty else {
        throw LanguageProblem(
          "a word is missing here", at: word.place, nextStep: "write one, or leave the quotes out")
      }
      guard splitting else {
        words.append(word)
        continue
      }
      for token in try LineWords.tokens(of: word.text, startingAt: word.place(at: 0)) {
        if case .word(let part) = token { words.append(part) }
      }
    }
    return words
  }

  /// A source mark; nil when there is none or it is unknown, which is noted.
  func sourceMark(of entry: YAMLEntry) -> SourceMark? {
    guard let word = text(of: entry, wanted: "a source mark") else { return nil }
    if let mark = SourceMark(rawValue: word.text) { return mark }
    let known = SourceMark.allCases.map(\.rawValue)
    report(
      LanguageProblem(
        "unknown source mark `\(word.text)`", at: word.place,
        didYouMean: NearestName.of(word.text, among: known),
        nextStep: "write one of: \(known.joined(separator: ", "))"), at: entry.keyPath)
    return nil
  }
}

/// A key of a YAML map with its value.
struct YAMLEntry {
  let key: Word
  let node: Node
  /// From the root: `data.Mood.count`.
  let keyPath: String
}
