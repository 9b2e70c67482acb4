import Foundation
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
  private var stepKeyPaths: [SourcePlace: String] = [:]

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
  func setKeyPath(_ keyPath: String, ofStepAt place: SourcePlace) {
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
  func place(of node: Node) -> SourcePlace {
    guard let mark = node.mark else { return SourcePlace(line: 1, column: 1) }
    guard let scalar = node.scalar else { return place(mark, length: 1) }
    switch scalar.style {
    case .singleQuoted, .doubleQuoted: return place(mark, length: scalar.string.count + 2)
    case .literal, .folded: return place(mark, length: 1)
    case .any, .plain: return place(mark, length: scalar.string.count)
    }
  }

  /// A place of libyaml's: columns in Unicode scalars become columns in characters.
  func place(_ mark: Mark, length: Int) -> SourcePlace {
    guard lines.indices.contains(mark.line - 1) else {
      return SourcePlace(line: max(1, lines.count), column: 1)
    }
    let line = lines[mark.line - 1]
    let scalars = line.unicodeScalars.prefix(max(0, mark.column - 1))
    let column = String(String.UnicodeScalarView(scalars)).count + 1
    let room = max(1, line.count - column + 1)
    return SourcePlace(line: mark.line, column: column, length: min(length, room))
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
