import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

/// The words that can complete a line of the shell, for the currently open stores and named
/// results.
package struct ShellVocabulary: Sendable {
  /// The completions of a line.
  package enum Candidates: Sendable, Equatable {
    case words([String])
    case files
  }

  let names: ModelNames?
  /// The named results and contexts.
  let known: KnownNames
  /// The names of the open stores and scenarios.
  private let targets: [String]
  /// The versions of the model.
  private let versions: [String]

  init(names: ModelNames?, known: KnownNames, targets: [String], versions: [String] = []) {
    self.versions = versions
    self.names = names
    self.known = known
    self.targets = targets
  }

  /// Returns the words that can replace the last word of a line, which can be empty.
  ///
  /// - Parameter line: The line up to the end of the word.
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
      return arguments(
        of: command, after: words, isFirst: words.count == length, last: last)
    }
    guard let verb = Verb(rawValue: first) else { return .words([]) }
    if words.count == 1, verb.subject != .none { return .words(subjects(of: verb)) }
    let options = optionChoices(of: verb, after: words, last: last)
    return .words(verb == .save && words.count == 1 ? ["scenario", "store"] + options : options)
  }

  private func arguments(
    of command: ShellCommand, after words: [String], isFirst: Bool, last: String
  ) -> Candidates {
    switch command {
    case .show: return .words(showChoices(after: words, last: last))
    case .output where !isFirst: return .words(["force"])
    case .open where !isFirst: return .words(["as"] + ShellWorkspace.Writing.words)
    case _ where !isFirst: return .words([])
    case .open, .saveScenario, .saveStore, .report, .source: return .files
    case .output: return last == "o" || last == "of" ? .words(["off"]) : .files
    case .use, .close: return .words(targets)
    case .entities, .schema: return .words(names?.entities ?? [])
    case .help:
      return .words(
        ShellEngine.verbs.map(\.rawValue) + ShellCommand.words + RuleName.allCases.map(\.rawValue))
    case .sql: return .words((0...4).map(String.init))
    case .mode: return .words(ShellMode.allCases.map(\.rawValue))
    case .record: return .words(["stacks", "off"])
    case .pager: return .words(["on", "off"])
    case .stores, .last, .explain, .advise, .stack, .findings, .stats, .reset, .diff, .sqlite,
      .repetition, .time, .again, .quit:
      return .words([])
    }
  }
}

extension ShellEngine {
  /// The words that can complete the next line.
  package var vocabulary: ShellVocabulary {
    ShellVocabulary(
      names: session.map { ModelNames($0.model, configuration: $0.configuration) },
      known: session?.knownNames ?? KnownNames(),
      targets: targets.map(\.name), versions: session?.versions?.names ?? [])
  }
}

extension ShellVocabulary {
  /// Returns the possible subjects of a verb.
  func subjects(of verb: Verb) -> [String] {
    switch verb.subject {
    case .entity: return names?.entities ?? []
    case .context: return Array(known.contexts.keys)
    case .text where verb == .migrate: return versions.map(LineWords.plain)
    case .text, .none: return []
    case .result: break
    }
    switch verb {
    case .drop:
      return Array(known.results.keys) + known.contexts.keys.filter { $0 != ContextShape.main }
    case .merge: return results(where: \.canBeMerged)
    default: return results(where: \.hasObjects)
    }
  }

  /// Returns completions in a quoted string; in a predicate or an expression, these are the
  /// entity's key paths.
  func textChoices(after words: [String], last: String) -> [String] {
    guard let verb = words.first.flatMap(Verb.init(rawValue:)),
      words.contains(OptionWord.predicate.rawValue) || words.contains("=")
    else { return [] }
    return keyPaths(last, of: entity(of: verb, words)) { _ in true }
      .filter { $0.hasPrefix(last) }.sorted()
  }

  /// Returns what can follow a verb and its subject: key paths, options, or an option's value.
  func optionChoices(of verb: Verb, after words: [String], last: String) -> [String] {
    let others = (verb.named == nil ? [] : ["as"]) + ["fails"]
    let all = verb.allOptions.map(\.rawValue) + others
    let unused = all.filter { !words.contains($0) }
    guard let index = words.lastIndex(where: all.contains), index > 0 else {
      return reads(of: verb, words, last: last) + unused
    }
    let values = Array(words[(index + 1)...])
    guard let option = OptionWord(rawValue: words[index]) else {
      return values.isEmpty ? [] : unused
    }
    switch option.kind {
    case .sortKeys, .keyPaths, .columns:
      var paths = keyPaths(last, of: entity(of: verb, words)) { option.takes($0) }
      if option == .sort, !last.isEmpty { paths += paths.map { "\($0)-" } }
      return values.isEmpty ? paths : paths + unused
    case .predicate where option == .predicate:
      // A predicate needs no quotation marks.
      let paths = keyPaths(last, of: entity(of: verb, words)) { _ in true }
      return values.isEmpty ? paths : paths + unused
    case .assignments:
      guard values.count.isMultiple(of: 2) else {
        return assignable(values.last ?? "", of: entity(of: verb, words))
      }
      let keys = keyPaths(last, of: entity(of: verb, words)) { verb.assigns($0) }
      return values.isEmpty ? keys : keys + unused
    default:
      return values.isEmpty ? single(option, of: verb, entity(of: verb, words)) : unused
    }
  }

  /// Returns the choices for an option that takes a single value.
  private func single(
    _ option: OptionWord, of verb: Verb, _ entity: NSEntityDescription?
  ) -> [String] {
    switch option {
    case .context, .parent: return Array(known.contexts.keys)
    case .coordinator: return known.contexts.values.map(\.coordinator)
    case .to where verb == .pin: return ContextCheck.generations + known.contexts.keys
    case .remove: return entity?.indexes.map(\.name) ?? []
    default: break
    }
    switch option.kind {
    case .flag: return ["yes", "no"]
    case .number: return (names?.entities ?? []) + ["scale"]
    default: return option.choices
    }
  }

  /// Returns the key paths that `touch` can read or `walk` can follow.
  private func reads(of verb: Verb, _ words: [String], last: String) -> [String] {
    guard verb.pathsKey != nil else { return [] }
    return keyPaths(last, of: entity(of: verb, words)) {
      verb == .touch || $0 is NSRelationshipDescription
    }
  }

  /// Returns what can follow `show`: a result, an option, or key paths.
  func showChoices(after words: [String], last: String) -> [String] {
    guard words.count > 1 else { return results { $0.kind != .save } }
    let options = ["columns", "limit", "offset", "raw"].filter { !words.contains($0) }
    guard words.contains("columns") else { return options }
    let entity = names?.model.entitiesByName[known.results[words[1]]?.entity ?? ""]
    return keyPaths(last, of: entity) { _ in true } + (words.last == "columns" ? [] : options)
  }

  /// Returns the words for values of a property: named results, or `yes` and `no`.
  private func assignable(_ key: String, of entity: NSEntityDescription?) -> [String] {
    switch entity?.propertiesByName[key] {
    case is NSRelationshipDescription: results(where: \.hasObjects)
    case let attribute as NSAttributeDescription:
      attribute.attributeType == .booleanAttributeType ? ["yes", "no"] : []
    default: []
    }
  }

  private func results(where isMeant: (ResultShape) -> Bool) -> [String] {
    known.results.filter { isMeant($0.value) }.map(\.key)
  }

  private func entity(of verb: Verb, _ words: [String]) -> NSEntityDescription? {
    guard words.count > 1 else { return nil }
    let name = verb.subject == .entity ? words[1] : known.results[words[1]]?.entity ?? ""
    return names?.model.entitiesByName[name]
  }

  /// Returns the key paths that complete the last key of an unfinished one.
  private func keyPaths(
    _ written: String, of entity: NSEntityDescription?,
    where isMeant: (NSPropertyDescription) -> Bool
  ) -> [String] {
    guard var owner = entity else { return [] }
    var prefix = ""
    for part in written.split(separator: ".", omittingEmptySubsequences: false).dropLast() {
      guard let next = owner.relationshipsByName[String(part)]?.destinationEntity else { return [] }
      owner = next
      prefix += "\(part)."
    }
    return owner.propertiesByName.values.filter(isMeant).map { prefix + $0.name }
  }
}

extension OptionWord {
  /// Returns whether a key path of the option can contain a property.
  fileprivate func takes(_ property: NSPropertyDescription) -> Bool {
    let relationship = property as? NSRelationshipDescription
    return self == .prefetch ? relationship != nil : relationship?.isToMany != true
  }
}

extension Verb {
  /// Returns whether the verb's `with` and `without` accept a property.
  fileprivate func assigns(_ property: NSPropertyDescription) -> Bool {
    let isToMany = (property as? NSRelationshipDescription)?.isToMany == true
    return self == .relate ? isToMany : !isToMany
  }
}
