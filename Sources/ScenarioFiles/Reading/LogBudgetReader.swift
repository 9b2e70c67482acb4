import Foundation
package import OpenCoreData
package import ScenarioLanguage
package import WorkbenchText
internal import Yams

/// Reads the file of `--expect`: a budget with `sections`, or a scenario, whose variants become
/// sections.
package enum LogBudgetReader {
  /// The keys of a budget.
  package static let keys = ["name", "model", "source", "data", "sections"]
  /// The keys of which a scenario, but not a budget, has at least one.
  private static let scenarioKeys = ["steps", "variants"]
  /// The keys of a section.
  package static let sectionKeys = ["name", "why", "source", "expect"]

  /// Reads and checks a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - model: The model to use if the file doesn't specify one.
  ///   - scale: The value of `scale` in a scenario. A budget specifies its row counts itself.
  ///   - problems: A closure that returns expectations of a budget that a log can't show or that
  ///     have no value.
  /// - Throws: `ScenarioDiagnostics` with all problems, or `InvalidInputError` if the file can't be
  ///   read.
  package static func read(
    path: String, model: NSManagedObjectModel?, scale: Int = 1,
    problems: (LogBudget) -> [LanguageProblem]
  ) throws -> LogBudget {
    let url = ScenarioReader.location(of: URL(fileURLWithPath: path))
    let data = try InputFile.read(path, limit: InputLimits.scenarioSize)
    let text = try ScenarioReader.text(of: data, path: path)
    let document = YAMLDocument(text: text, file: path)
    let root = document.root(of: text)
    let found = Set((root?.mapping ?? [:]).compactMap { $0.key.string })
    guard root?.mapping != nil, found.contains("sections") || found.isDisjoint(with: scenarioKeys)
    else {
      return try budget(of: ScenarioReader.read(text: text, url: url, path: path), scale)
    }
    let budget = root.flatMap { self.budget(of: $0, document, url, model) }
    // If `data` has errors, formulas would be reported only for the missing entities.
    if !document.diagnostics.contains(where: { $0.keyPath.hasPrefix("data") }) {
      for problem in budget.map(problems) ?? [] { document.report(problem, at: "sections") }
    }
    guard let budget, document.diagnostics.isEmpty else {
      throw ScenarioDiagnostics(document.diagnostics)
    }
    return budget
  }

  /// Returns a budget with a section for each variant of a scenario.
  private static func budget(of scenario: Scenario, _ scale: Int) throws -> LogBudget {
    LogBudget(
      path: scenario.path, model: scenario.model,
      sections: scenario.variants.map {
        LogBudget.Section(
          name: $0.name, expect: $0.expect, line: $0.line,
          stepsWithExpectations: $0.steps(sharing: scenario.steps).filter { $0.expect != nil }
            .map(\.text))
      },
      scope: CountExpressionScope(
        rows: EntityCount.totals(
          try scenario.data.counts(scale: scale), in: scenario.dataModel),
        scale: scale),
      isScenario: true, silence: scenario.silence)
  }

  private static func budget(
    of root: Node, _ document: YAMLDocument, _ url: URL, _ model: NSManagedObjectModel?
  ) -> LogBudget? {
    guard let list = document.entries(of: root, at: "", known: keys, what: "a budget") else {
      return nil
    }
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    if entries["sections"] == nil {
      document.report(
        LanguageProblem(
          "the budget has no `sections`", at: SourceRange(line: 1, column: 1),
          nextStep: "write `sections:` with a list, or use a scenario"), at: "sections")
    }
    let lookup = ModelLookup(document: document, folder: url.deletingLastPathComponent())
    let named = entries["model"] == nil ? nil : lookup.model(named: entries["model"], data: nil)
    guard let model = named?.model ?? (entries["model"] == nil ? model : nil) else {
      if entries["model"] == nil {
        document.report(
          LanguageProblem(
            "the budget has no `model`", at: SourceRange(line: 1, column: 1),
            nextStep: "write `model: NAME`, or use --model or --store"), at: "model")
      }
      return nil
    }
    let names = ModelNames(model)
    let scope = entries["data"].map { rows(of: $0, document, names) } ?? CountExpressionScope()
    let source = entries["source"].flatMap(document.sourceMark) ?? .ours
    let sections = self.sections(of: entries["sections"], document, names, source)
    return LogBudget(
      path: document.file, model: model, sections: sections, scope: scope, isScenario: false)
  }

  /// Returns the row counts of the app's store for formulas, from
  /// `data: {Mood: 5000, Country: 60}`.
  private static func rows(
    of entry: YAMLEntry, _ document: YAMLDocument, _ names: ModelNames
  ) -> CountExpressionScope {
    var scope = CountExpressionScope()
    for row in document.entries(of: entry.node, at: entry.keyPath, known: nil, what: "`data`") ?? []
    {
      _ = document.noting(at: row.keyPath) { () throws(LanguageProblem) in
        try names.entity(row.key.text, at: row.key.range)
      }
      scope.rows[row.key.text] = count(of: row, document, names, above: scope) ?? 0
    }
    return scope
  }

  /// Returns a row count, which can be an expression that uses the entities above it.
  private static func count(
    of row: YAMLEntry, _ document: YAMLDocument, _ names: ModelNames,
    above scope: CountExpressionScope
  ) -> Int? {
    guard let word = document.text(of: row, wanted: "a number of rows") else { return nil }
    return document.noting(at: row.keyPath) { () throws(LanguageProblem) in
      let reader = OptionReader(key: row.key, value: .words([word]))
      let number = try reader.expression()
      for name in number.expression.names { try names.checkRows(of: name) }
      do throws(CountExpressionError) {
        return try number.resolved(in: scope).value ?? 0
      } catch {
        throw LanguageProblem(
          "`\(error.text)` has no value: \(error.message)", at: error.range,
          nextStep: "a number can use the entities above it")
      }
    }
  }

  private static func sections(
    of entry: YAMLEntry?, _ document: YAMLDocument, _ names: ModelNames, _ source: SourceMark
  ) -> [LogBudget.Section] {
    let elements = entry.flatMap { document.list(of: $0, what: "sections") } ?? []
    if elements.isEmpty, let entry, entry.node.sequence != nil {
      document.report(
        LanguageProblem(
          "`sections` is empty", at: entry.key.range,
          nextStep: "write at least one: `- {name: list, expect: {selects: 1}}`"),
        at: entry.keyPath)
    }
    var seen = Set<String>()
    return elements.compactMap { node, keyPath in
      guard
        let entries = document.entries(
          of: node, at: keyPath, known: sectionKeys, what: "a section")
      else { return nil }
      let parts = Dictionary(
        entries.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
      let range = document.range(of: node)
      let name = parts["name"].flatMap { document.text(of: $0) }?.text
      if name == nil || !seen.insert(name ?? "").inserted {
        document.report(
          LanguageProblem(
            name.map { "two sections are named `\($0)`" } ?? "the section has no name", at: range,
            nextStep: "use the name that follows `cdprof: begin` in the log"), at: keyPath)
      }
      let reader = ExpectReader(
        document: document, scopes: ScopeResolver(names: names, rowNames: names, stepNames: []),
        source: parts["source"].flatMap(document.sourceMark) ?? source)
      let block = parts["expect"].flatMap(reader.block) ?? ExpectBlock(line: range.line)
      return LogBudget.Section(name: name ?? "", expect: block, line: range.line)
    }
  }
}
