import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Parses steps in YAML: a map whose verb is the key of its subject, or a shell line.
struct StepReader {
  let document: YAMLDocument
  /// The reader for the steps' expectations.
  let expects: ExpectReader

  /// Returns the steps of a list, those of `repeat` blocks as often as they run.
  ///
  /// Invalid steps are reported and omitted.
  func steps(of entry: YAMLEntry) -> [Step] {
    (document.list(of: entry, what: "steps") ?? []).flatMap { node, keyPath in
      if let block = repeatBlock(of: node, at: keyPath) { return steps(of: block, at: keyPath) }
      return step(of: node, at: keyPath).map { [$0] } ?? []
    }
  }

  // MARK: Blocks

  /// The key of a block's number.
  static let repetition = "repeat"

  /// Returns the entries of a `repeat` block, or `nil` if a node is something else.
  private func repeatBlock(of node: Node, at keyPath: String) -> [YAMLEntry]? {
    let keys = node.mapping?.keys.compactMap { document.word(of: $0)?.text } ?? []
    guard keys.contains(StepReader.repetition) else { return nil }
    return document.entries(
      of: node, at: keyPath, known: [StepReader.repetition, "steps"], what: "a `repeat` block")
  }

  private func steps(of block: [YAMLEntry], at keyPath: String) -> [Step] {
    guard let number = block.first(where: { $0.key.text == StepReader.repetition }) else {
      return []
    }
    guard let list = block.first(where: { $0.key.text == "steps" }) else {
      document.report(
        LanguageProblem(
          "`repeat` has no `steps`", at: number.key.range,
          nextStep: "write `steps:` with the list of steps to repeat"), at: keyPath)
      return []
    }
    let once = steps(of: list)
    let problem =
      "`repeat` needs an integer from 1 to \(NumberText.grouped(InputLimits.repeats))"
    guard let word = document.word(of: number.node), let count = Int(word.text),
      (1...InputLimits.repeats).contains(count)
    else {
      document.report(
        LanguageProblem(
          problem, at: document.range(of: number.node), nextStep: "write, for example, `repeat: 12`"
        ),
        at: number.keyPath)
      return once
    }
    document.repeatedSteps += once.count * (count - 1)
    guard document.repeatedSteps <= InputLimits.repeatedSteps else {
      document.report(
        LanguageProblem(
          "the blocks up to this one add \(NumberText.grouped(document.repeatedSteps)) steps, and the "
            + "limit is \(NumberText.grouped(InputLimits.repeatedSteps))", at: word.range,
          nextStep: "repeat the steps less often, or change more objects in one step"),
        at: number.keyPath)
      return once
    }
    return Array(repeatElement(once, count: count).joined())
  }

  // MARK: Steps

  private func step(of node: Node, at keyPath: String) -> Step? {
    let range = document.range(of: node)
    let location = CallSite(file: document.file, line: range.line)
    if let word = document.word(of: node), !document.isEmpty(node) {
      let step = document.noting(at: keyPath) { () throws(LanguageProblem) in
        try checkIsStep(word)
        return try ShellLine.step(of: word, location: location)
      }
      if let step {
        document.setKeyPath(keyPath, ofStepAt: step.ranges.verb)
      } else {
        document.lostNames.formUnion(StepReader.names(in: word))
        if word.text.hasPrefix(Verb.migrate.rawValue) { loseMigration(at: range) }
      }
      return step
    }
    guard let entries = document.entries(of: node, at: keyPath, known: nil, what: "a step") else {
      return nil
    }
    do {
      var step = try StepBuilder(try form(of: entries, at: range)).step(at: location)
      if let expect = entries.first(where: { $0.key.text == "expect" }) {
        step.expect = expects.block(of: expect)
      }
      document.setKeyPath(keyPath, ofStepAt: step.ranges.verb)
      return step
    } catch {
      document.report(error, at: self.keyPath(of: error.range, in: entries, or: keyPath))
      let naming = entries.first { ["as", Verb.context.rawValue].contains($0.key.text) }
      if let name = naming.flatMap({ document.word(of: $0.node) }) {
        document.lostNames.insert(name.text)
      }
      if entries.contains(where: { $0.key.text == Verb.migrate.rawValue }) {
        loseMigration(at: range)
      }
      // A value can be the rest of a line.
      for line in entries.compactMap({ document.word(of: $0.node) }) {
        document.lostNames.formUnion(StepReader.names(in: line))
      }
      return nil
    }
  }

  /// Records that a migration couldn't be parsed.
  private func loseMigration(at range: SourceRange) {
    document.lostMigration = document.lostMigration.map { min($0, range.line) } ?? range.line
  }

  /// Checks that a line isn't a block of the shell.
  private func checkIsStep(_ line: Word) throws(LanguageProblem) {
    guard line.text.hasPrefix("\(StepReader.repetition) ") else { return }
    throw LanguageProblem(
      "a block can't be a line", at: line.range(at: 0, length: StepReader.repetition.count),
      nextStep: "write `{repeat: 12, steps: [ … ]}`")
  }

  /// Returns the names that a line gives to a result or a context; none if it can't be divided into
  /// words.
  private static func names(in line: Word) -> [String] {
    let words = (try? LineWords.words(of: line)) ?? []
    return zip(words, words.dropFirst()).compactMap { word, next in
      !word.isQuoted && ["as", Verb.context.rawValue].contains(word.text) ? next.text : nil
    }
  }

  private func form(
    of entries: [YAMLEntry], at range: SourceRange
  ) throws(LanguageProblem) -> StepForm {
    let verbs = entries.filter { Verb(rawValue: $0.key.text) != nil }
    guard let verb = verbs.first ?? entries.first else {
      throw LanguageProblem(
        "expected a step", at: range,
        nextStep: "write, for example, `{fetch: Mood, as: moods}`")
    }
    guard verbs.count < 2 else {
      throw LanguageProblem(
        "a step can have only one verb, not `\(verbs[0].key.text)` and `\(verbs[1].key.text)`",
        at: verbs[1].key.range, nextStep: "write two steps")
    }
    guard !isLine(verb.key) else {
      throw LanguageProblem(
        "a colon and a space in this line make it a key and a value", at: verb.key.range,
        nextStep: "put the whole line in quotes, or write its options as keys: "
          + "`{fetch: Mood, limit: 20}`")
    }
    // In YAML, a quoted key is the same key.
    func unquoted(_ key: Word) -> Word {
      var key = key
      key.isQuoted = false
      return key
    }
    var form = StepForm(verb: unquoted(verb.key))
    if !document.isEmpty(verb.node) {
      guard let subject = document.word(of: verb.node) else {
        throw LanguageProblem(
          "the subject of `\(verb.key.text)` must be one word", at: document.range(of: verb.node),
          nextStep: "write `\(verb.key.text): NAME`")
      }
      try checkIsName(subject, of: verb.key)
      form.subject = subject
    }
    for entry in entries where entry.key != verb.key && entry.key.text != "expect" {
      if entry.key.text == Verb(rawValue: verb.key.text)?.pathsKey {
        form.reads = try document.words(of: entry, LineWords.words)
      } else {
        form.entries.append(StepForm.Entry(key: unquoted(entry.key), value: try value(of: entry)))
      }
    }
    return form
  }

  /// Returns whether a key is the beginning of a line: a verb and more words.
  private func isLine(_ key: Word) -> Bool {
    let words = key.text.split(separator: " ")
    return words.count > 1 && Verb(rawValue: String(words[0])) != nil
  }

  /// Checks that the subject of a verb that needs a name isn't the rest of a line.
  private func checkIsName(_ subject: Word, of key: Word) throws(LanguageProblem) {
    guard let verb = Verb(rawValue: key.text), [.entity, .result].contains(verb.subject),
      let end = subject.text.firstIndex(where: \.isWhitespace)
    else { return }
    let name = subject.text[..<end]
    throw LanguageProblem(
      "the subject of `\(verb.rawValue)` must be one word", at: subject.range,
      nextStep: "write options as keys, as in `{\(verb.rawValue): \(name), …}`, or the whole step "
        + "as a line: `\(verb.rawValue) \(subject.text)`")
  }

  /// Returns the value of an option as words or pairs.
  func value(of entry: YAMLEntry) throws(LanguageProblem) -> StepForm.Value {
    if let mapping = entry.node.mapping {
      var pairs = [StepForm.Pair]()
      for (keyNode, valueNode) in mapping {
        pairs.append(try pair(keyNode, valueNode))
      }
      return .pairs(pairs)
    }
    switch OptionWord(rawValue: entry.key.text)?.kind {
    case .sortKeys: return .words(try document.words(of: entry, LineWords.sortKeys))
    case .keyPaths, .columns: return .words(try document.words(of: entry, LineWords.words))
    default: return .words(try document.words(of: entry))
    }
  }

  /// The key of an expression, in the map that is a property's value.
  static let expression = "expression"

  /// Returns a property with its value: a word, or `{expression: FORMAT}`.
  private func pair(
    _ keyNode: Node, _ valueNode: Node
  ) throws(LanguageProblem) -> StepForm.Pair {
    guard let key = document.word(of: keyNode), valueNode.sequence == nil else {
      throw LanguageProblem(
        "a property's value must be one word or an expression", at: document.range(of: valueNode),
        nextStep: "write `KEY: VALUE` or `KEY: {expression: \"…\"}`")
    }
    if let value = document.word(of: valueNode) { return StepForm.Pair(key: key, value: value) }
    var value: Word?
    for (wordNode, node) in valueNode.mapping ?? [:] {
      let word = document.word(of: wordNode)
      guard word?.text == StepReader.expression else {
        throw LanguageProblem(
          "the value of `\(key.text)` has no key `\(word?.text ?? "")`",
          at: document.range(of: wordNode), didYouMean: StepReader.expression,
          nextStep: "write `KEY: VALUE` or `KEY: {expression: \"…\"}`")
      }
      value = document.isEmpty(node) ? nil : document.word(of: node)
    }
    guard let value else {
      throw LanguageProblem(
        "`\(key.text)` needs an expression", at: document.range(of: valueNode),
        nextStep: "write `KEY: {expression: \"…\"}`")
    }
    return StepForm.Pair(key: key, value: value, isExpression: true)
  }

  /// Returns the key path of the entry that contains a source range.
  private func keyPath(
    of range: SourceRange, in entries: [YAMLEntry], or whole: String
  ) -> String {
    let before = entries.filter {
      ($0.key.range.line, $0.key.range.column) <= (range.line, range.column)
    }
    return before.last?.keyPath ?? whole
  }
}

extension Step {
  /// The step as a YAML flow map, such as `{fetch: Mood, sort: date-, as: moods}`.
  package var yaml: String {
    var pairs = ["\(verb.rawValue): \(YAMLText.scalar(subject))"]
    if verb.subject == .none {
      pairs = ["\(verb.rawValue): null"]
    }
    if !reads.isEmpty {
      pairs.append("\(verb.pathsKey ?? "read"): \(YAMLText.list(reads))")
    }
    pairs += options.map { "\($0.word.rawValue): \($0.value.yaml)" }
    if let name {
      pairs.append("as: \(YAMLText.scalar(name))")
    }
    if let fails {
      pairs.append("fails: \(fails)")
    }
    return "{\(pairs.joined(separator: ", "))}"
  }
}

extension OptionValue {
  /// The value in YAML.
  var yaml: String {
    switch self {
    case .predicate(let text), .name(let text), .text(let text): YAMLText.scalar(text)
    case .sortKeys(let keys):
      keys.count == 1
        ? YAMLText.scalar(keys[0].description) : YAMLText.list(keys.map(\.description))
    case .keyPaths(let keyPaths): YAMLText.list(keyPaths)
    case .columns(let columns): YAMLText.list(columns.map(\.description))
    case .assignments(let assignments):
      "{"
        + assignments.map { "\(YAMLText.scalar($0.key)): \($0.yaml)" }.joined(separator: ", ")
        + "}"
    case .number(let number): number.yaml
    case .flag, .choice, .seconds: text
    }
  }
}

extension Assignment {
  /// The value in YAML.
  fileprivate var yaml: String {
    let text = isNil ? value : YAMLText.scalar(value)
    return isExpression ? "{\(StepReader.expression): \(text)}" : text
  }
}

extension StepNumber {
  /// The number in YAML.
  ///
  /// A plain integer isn't quoted.
  fileprivate var yaml: String {
    let text = expression.text
    return Int(text) == nil ? YAMLText.scalar(text) : text
  }
}

/// Encodes strings as YAML scalars.
enum YAMLText {
  /// Returns a scalar for a flow map or list: plain if that's unambiguous; otherwise, in double
  /// quotation marks.
  static func scalar(_ text: String) -> String {
    let isPlain =
      text.first.map { $0.isLetter || $0 == "_" } == true
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_.-/ ".contains($0)) }
      && !text.hasSuffix(" ") && Flag.value(of: text) == nil && !["y", "n"].contains(text)
      && !AttributeLiteral.nilWords.contains(text)
    return isPlain ? text : quoted(text)
  }

  /// Returns a flow list.
  static func list(_ texts: [String]) -> String {
    "[\(texts.map(scalar).joined(separator: ", "))]"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where PrintableText.isUnsafe(scalar):
        let digits = String(scalar.value, radix: 16)
        result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
