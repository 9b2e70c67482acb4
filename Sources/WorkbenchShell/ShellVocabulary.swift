import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

/// The words that may stand at the end of an unfinished line of the shell.
///
/// A plain value of one moment: what is open, and which results are held.
package struct ShellVocabulary: Sendable {
  /// What may stand there.
  package enum Candidates: Sendable, Equatable {
    case words([String])
    case files
  }

  let names: ModelNames?
  /// Results that are held, and contexts.
  let known: KnownNames
  /// The names of what is open.
  private let desks: [String]

  init(model: NSManagedObjectModel?, known: KnownNames, desks: [String]) {
    names = model.map(ModelNames.init)
    self.known = known
    self.desks = desks
  }

  /// What may take the place of the line's last word, which may be empty.
  ///
  /// - Parameter line: up to where the word ends.
  package func candidates(for line: String) -> Candidates {
    let isInText = !line.count(where: { $0 == "\"" }).isMultiple(of: 2)
    var words = line.split(omittingEmptySubsequences: false) { " ,\"'[]()".contains($0) }
      .map(String.init)
    let last = words.popLast() ?? ""
    words.removeAll(where: \.isEmpty)
    if isInText { return .words(textChoices(after: words, last: last)) }
    switch choices(after: words, last: last) {
    case .files: return .files
    case .words(let all):
      return .words(Array(Set(all.filter { $0.hasPrefix(last) })).sorted())
    }
  }

  private func choices(after words: [String], last: String) -> Candidates {
    guard let first = words.first else {
      return .words(ShellEngine.verbs.map(\.rawValue) + ShellCommand.words)
    }
    if let (command, length) = ShellCommand.named(by: words) {
      return arguments(of: command, isFirst: words.count == length, last: last)
    }
    guard let verb = Verb(rawValue: first) else { return .words([]) }
    if words.count == 1, verb.subject != .none { return .words(subjects(of: verb)) }
    let options = optionChoices(of: verb, after: words, last: last)
    return .words(verb == .save && words.count == 1 ? ["scenario", "store"] + options : options)
  }

  private func arguments(
    of command: ShellCommand, isFirst: Bool, last: String
  ) -> Candidates {
    switch command {
    case .output where !isFirst: return .words(["force"])
    case .open where !isFirst: return .words(["as"] + ShellWorkspace.Writing.words)
    case _ where !isFirst: return .words([])
    case .open, .saveScenario, .saveStore, .report, .source: return .files
    case .output: return last == "o" || last == "of" ? .words(["off"]) : .files
    case .use, .close: return .words(desks)
    case .entities: return .words(names?.entities ?? [])
    case .help: return .words(ShellEngine.verbs.map(\.rawValue) + ShellCommand.words)
    case .sql: return .words((0...4).map(String.init))
    case .mode: return .words(ShellMode.allCases.map(\.rawValue))
    case .record: return .words(["stacks", "off"])
    case .pager: return .words(["on", "off"])
    case .stores, .last, .explain, .advise, .stack, .findings, .stats, .reset, .diff, .sqlite,
      .quit:
      return .words([])
    }
  }
}

extension ShellEngine {
  /// The words that may be typed now.
  package var vocabulary: ShellVocabulary {
    ShellVocabulary(
      model: session?.model, known: session?.knownNames ?? KnownNames(),
      desks: desks.map(\.name))
  }
}
