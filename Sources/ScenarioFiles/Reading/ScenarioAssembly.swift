import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Creates a scenario from the entries of its root.
struct ScenarioAssembly {
  let document: YAMLDocument
  /// The location of the scenario file.
  ///
  /// Models and stores are looked up relative to its folder.
  let url: URL

  /// Returns the scenario, or records a problem and returns `nil` if its root or its model can't be
  /// read.
  func scenario(of root: Node) -> Scenario? {
    let root = document.withoutExtensions(root)
    guard
      let list = document.entries(
        of: root, at: "", known: Scenario.keys, what: "a scenario")
    else { return nil }
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    for key in ["name", "steps"] where entries[key] == nil {
      document.report(
        LanguageProblem(
          "the scenario has no `\(key)`", at: SourceRange(line: 1, column: 1),
          nextStep: "write `\(key):`"), at: key)
    }
    let source = entries["source"].flatMap(document.sourceMark) ?? .ours
    let lookup = ModelLookup(document: document, folder: url.deletingLastPathComponent())
    guard let found = lookup.model(named: entries["model"], data: entries["data"]) else {
      return nil
    }
    let names = ModelNames(found.model)
    let versions = VersionedModel(found.url)
    let start =
      entries["data"].flatMap { DataReader.version(in: $0, of: document, among: versions) }?.model
      ?? found.model
    let configuration = found.store.flatMap { try? start.configuration(ofStoreAt: $0) }
    let scopes = ScopeResolver(
      names: names, rowNames: ModelNames(start), stepNames: [],
      contextNames: [ContextShape.main] + contextNames(in: root))
    let data = entries["data"].flatMap {
      DataReader(document: document, scopes: scopes, folder: lookup.folder)
        .plan(of: $0, copying: found.store)
    }
    let steps = StepReader(
      document: document,
      expects: ExpectReader(document: document, scopes: scopes, source: source))
    let shared = entries["steps"].map(steps.steps) ?? []
    let variants = VariantReader(
      document: document, names: names,
      check: StepCheck(model: start, configuration: configuration, versions: versions),
      rowNames: scopes.rowNames, shared: shared,
      source: source,
      apple: entries["apple"].flatMap { document.text(of: $0) }?.text.trimmedLines ?? "",
      steps: steps)
    let name = entries["name"].flatMap(self.name) ?? ""
    var scenario = Scenario(
      name: name, file: url, path: document.file,
      chapter: entries["chapter"].flatMap(document.number),
      covers: entries["covers"].map { covers(of: $0, source: source) } ?? [],
      story: entries["story"].flatMap { document.text(of: $0) }?.text ?? "",
      modelName: entries["model"].flatMap { document.word(of: $0.node) }?.text,
      modelURL: found.url, model: found.model,
      data: data ?? DataPlan(source: .generated([])), steps: shared,
      variants: self.variants(of: entries, reader: variants, named: name))
    scenario.versions = versions
    addLesson(of: entries, to: &scenario, scopes: variants.scopes)
    scenario.silence = entries["silence"].map { silence(of: $0, scopes: scopes) } ?? []
    checkFormulas(of: scenario)
    IndexCheck(scenario).problems.forEach { document.report($0.problem, at: $0.keyPath) }
    return scenario
  }

  /// Reads what only pages use: `metric`, `headline`, `predict`, and `exercise`.
  private func addLesson(
    of entries: [String: YAMLEntry], to scenario: inout Scenario,
    scopes: @escaping (Variant) -> ScopeResolver
  ) {
    let headlines = HeadlineReader(
      document: document, variants: scenario.variants, scopes: scopes)
    scenario.metric = entries["metric"].flatMap(headlines.metric)
    scenario.headline = entries["headline"].flatMap(headlines.headline)
    scenario.predictions =
      entries["predict"].map(
        PredictionReader(
          document: document, variants: scenario.variants, values: headlines
        ).predictions) ?? []
    scenario.exercise = entries["exercise"].flatMap(
      ExerciseReader(
        document: document, variants: scenario.variants, scopes: scopes
      ).exercise)
  }

  /// Returns the names of the contexts that any step creates, which steps' expectations can use.
  private func contextNames(in node: Node) -> [String] {
    if let mapping = node.mapping {
      return mapping.flatMap { key, value in
        let isContext = document.word(of: key)?.text == Verb.context.rawValue
        return isContext
          ? document.word(of: value).map { [$0.text] } ?? [] : contextNames(in: value)
      }
    }
    if let sequence = node.sequence { return sequence.flatMap(contextNames) }
    let words = document.word(of: node)?.text.split(separator: " ").map(String.init) ?? []
    return words.count > 1 && words[0] == Verb.context.rawValue ? [words[1]] : []
  }

  private func name(of entry: YAMLEntry) -> String? {
    guard let word = document.text(of: entry) else { return nil }
    if word.text.allSatisfy(\.isWhitespace) {
      document.report(
        LanguageProblem(
          "the scenario's name is empty", at: word.range, nextStep: "write `name: …`"),
        at: entry.keyPath)
    }
    return word.text
  }

  /// Evaluates every formula at scale 1, if the row counts are known before a store is opened.
  private func checkFormulas(of scenario: Scenario) {
    guard case .generated(let plans) = scenario.data.source else { return }
    // If `data` has errors, formulas would be reported only for the missing entities.
    guard !document.diagnostics.contains(where: { $0.keyPath.hasPrefix("data") }) else { return }
    let counts: [EntityCount]
    do {
      counts = try scenario.data.counts(scale: 1)
    } catch {
      report(error, keyPath: "data")
      return
    }
    let check = DestinationCheck(plans: plans, counts: counts, model: scenario.dataModel)
    for problem in check.problems { document.report(problem, at: "data") }
    let scope = CountExpressionScope(
      rows: EntityCount.totals(counts, in: scenario.dataModel), scale: 1)
    for expectation in scenario.expectations {
      do {
        _ = try expectation.constraint.bounds(in: scope)
      } catch {
        report(error, keyPath: expectation.metric.text)
      }
    }
    checkNumbers(of: scenario, in: scope)
  }

  /// Evaluates the numbers of all steps, including those that variants set.
  private func checkNumbers(of scenario: Scenario, in scope: CountExpressionScope) {
    let steps = scenario.steps + scenario.variants.flatMap { $0.first + $0.then }
    let numbers =
      steps.flatMap(\.options).map { ($0, "steps") }
      + scenario.variants.flatMap(\.set).map { ($0.option, "set.\($0.target)") }
    for (option, keyPath) in numbers {
      // Unknown names are already reported.
      guard option.number?.expression.names.allSatisfy({ scope.rows[$0.text] != nil }) ?? false
      else { continue }
      do {
        _ = try option.number?.resolved(in: scope)
      } catch {
        report(error, keyPath: "\(keyPath).\(option.word.rawValue)")
      }
    }
  }

  private func report(_ error: CountExpressionError, keyPath: String) {
    document.report(
      LanguageProblem(
        "`\(error.text)` has no value: \(error.message)", at: error.range,
        nextStep: "change the expression or the row counts in `data`"), at: keyPath)
  }

  private func variants(
    of entries: [String: YAMLEntry], reader: VariantReader, named name: String
  ) -> [Variant] {
    guard let entry = entries["variants"] else {
      let line = entries["steps"]?.key.range.line ?? 1
      return [reader.onlyVariant(named: name, expect: entries["expect"], line: line)]
    }
    if let expect = entries["expect"] {
      document.report(
        LanguageProblem(
          "a scenario with variants can't have an `expect` block", at: expect.key.range,
          nextStep: "move `expect` into a variant"), at: expect.keyPath)
    }
    return reader.variants(of: entry)
  }

  /// Returns the suppressed findings, each a rule or a rule with its subject.
  private func silence(of entry: YAMLEntry, scopes: ScopeResolver) -> [FindingSuppression] {
    var listed: Set<FindingSuppression> = []
    let elements = document.list(of: entry, what: "findings") ?? []
    return elements.compactMap { node, keyPath -> FindingSuppression? in
      document.noting(at: keyPath) { () throws(LanguageProblem) in
        guard let word = document.word(of: node) else {
          throw LanguageProblem(
            "a finding must be a word", at: document.range(of: node),
            nextStep: "write, for example, `fault-storm` or `fault-storm(Mood)`")
        }
        let suppression = try suppression(word, scopes: scopes)
        guard listed.insert(suppression).inserted else {
          throw LanguageProblem(
            "the finding `\(word.text)` is listed twice", at: word.range, nextStep: "remove one")
        }
        return suppression
      }
    }
  }

  private func suppression(
    _ word: Word, scopes: ScopeResolver
  ) throws(LanguageProblem) -> FindingSuppression {
    guard word.text.contains("(") else {
      try scopes.check(rule: word)
      return FindingSuppression(rule: word.text)
    }
    let finding = try FindingName(word)
    try scopes.check(finding)
    return FindingSuppression(rule: finding.rule.text, subject: finding.subject.text)
  }

  private func covers(of entry: YAMLEntry, source: SourceMark) -> [CatalogReference] {
    (document.list(of: entry, what: "behavior IDs") ?? []).compactMap { node, keyPath in
      var mark = source
      var word = document.word(of: node)
      if let pair = node.mapping?.first, node.mapping?.count == 1,
        let key = document.word(of: pair.key)
      {
        let entry = YAMLEntry(key: key, node: pair.value, keyPath: keyPath)
        mark = document.sourceMark(of: entry) ?? source
        word = key
      }
      guard let word, CatalogReference.isID(word.text) else {
        document.report(
          LanguageProblem(
            "expected a behavior ID", at: word?.range ?? document.range(of: node),
            nextStep: "write, for example, `S6.01`, or `S6.01: book` to specify its source"),
          at: keyPath
        )
        return nil
      }
      return CatalogReference(id: word.text, source: mark)
    }
  }
}

extension CatalogReference {
  /// The pattern of behavior IDs, such as `S6.01`, `S15-10`, and `S-C33`.
  static let pattern = "S([0-9]+[.-][0-9]+b?|-[A-Z][0-9]+)"

  fileprivate static func isID(_ text: String) -> Bool {
    text.range(of: "^\(pattern)$", options: .regularExpression) != nil
  }
}
