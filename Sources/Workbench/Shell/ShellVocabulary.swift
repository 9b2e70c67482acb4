import OpenCoreData

/// The words that may stand at the end of an unfinished line of the shell.
///
/// A plain value of one moment: what is open, and which results are held.
package struct ShellVocabulary: Sendable {
  /// What may stand there.
  package enum Candidates: Sendable, Equatable {
    case words([String])
    case files
  }

  private let names: ModelNames?
  private let held: [String: HeldShape]
  /// The names of what is open.
  private let desks: [String]

  init(model: NSManagedObjectModel?, held: [String: HeldShape], desks: [String]) {
    names = model.map(ModelNames.init)
    self.held = held
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
    if words.count == 1, verb.subject != .none {
      return .words(verb.subject == .entity ? names?.entities ?? [] : Array(held.keys))
    }
    if verb == .save, words.count == 1 { return .words(["scenario", "store", "in", "fails"]) }
    return .words(optionChoices(of: verb, after: words, last: last))
  }

  private func arguments(
    of command: ShellCommand, isFirst: Bool, last: String
  ) -> Candidates {
    switch command {
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
    case .stores, .last, .explain, .stack, .findings, .stats, .reset, .diff, .sqlite, .quit:
      return .words([])
    }
  }

  /// What may stand inside of a quoted text: in a predicate the entity's key paths.
  private func textChoices(after words: [String], last: String) -> [String] {
    guard let verb = words.first.flatMap(Verb.init(rawValue:)),
      words.contains(OptionWord.predicate.rawValue)
    else { return [] }
    return keyPaths(last, of: entity(of: verb, words)).filter { $0.hasPrefix(last) }.sorted()
  }

  private func optionChoices(of verb: Verb, after words: [String], last: String) -> [String] {
    let options = verb.options
    let unused = options.map(\.rawValue).filter { !words.contains($0) }
    let others = (verb.named == nil ? [] : ["as"]) + ["fails"]
    guard let index = words.lastIndex(where: { word in options.contains { $0.rawValue == word } })
    else {
      let keyPaths = verb.pathsKey != nil ? self.keyPaths(last, of: entity(of: verb, words)) : []
      return keyPaths + unused + others
    }
    let values = words.count - index - 1
    switch OptionWord(rawValue: words[index])?.kind {
    case .flag where values == 0: return ["yes", "no"]
    case .choice where values == 0: return OptionWord(rawValue: words[index])?.choices ?? []
    case .number where values == 0, .predicate where values == 0, .name where values == 0,
      .seconds where values == 0, .text where values == 0:
      return []
    case .sortKeys, .keyPaths, .columns, .assignments:
      let keyPaths = self.keyPaths(last, of: entity(of: verb, words))
      return values == 0 ? keyPaths : keyPaths + unused + others
    default: return unused + others
    }
  }

  private func entity(of verb: Verb, _ words: [String]) -> NSEntityDescription? {
    guard words.count > 1 else { return nil }
    let name = verb.subject == .entity ? words[1] : held[words[1]]?.entity ?? ""
    return names?.model.entitiesByName[name]
  }

  /// The key paths that go one step further than what is written.
  private func keyPaths(_ written: String, of entity: NSEntityDescription?) -> [String] {
    guard var owner = entity else { return [] }
    var prefix = ""
    for part in written.split(separator: ".", omittingEmptySubsequences: false).dropLast() {
      guard let next = owner.relationshipsByName[String(part)]?.destinationEntity else { return [] }
      owner = next
      prefix += "\(part)."
    }
    return owner.propertiesByName.keys.map { prefix + $0 }
  }
}

extension ShellEngine {
  /// The words that may be typed now.
  package var vocabulary: ShellVocabulary {
    ShellVocabulary(
      model: session?.model, held: session?.heldShapes ?? [:], desks: desks.map(\.name))
  }
}
