import Foundation
package import OpenCoreData
package import WorkbenchText
internal import Yams

/// Reads what `--expect` names: a file with `sections`, or a scenario, whose variants are sections.
package enum LogBudgetReader {
  /// The keys of a budget.
  package static let keys = ["name", "model", "source", "data", "sections"]
  /// The keys of one of its sections.
  package static let sectionKeys = ["name", "why", "source", "expect"]

  /// Reads and checks all of a file.
  ///
  /// - Parameters:
  ///   - model: the model for a file that names none.
  ///   - scale: the value of `scale` in a scenario; a budget has the rows that it says.
  ///   - problems: finds what no log can show, or what has no value, in a budget that was read.
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong; `InvalidInputError` when the file cannot
  ///   be read.
  package static func read(
    path: String, model: NSManagedObjectModel?, scale: Int = 1,
    problems: (LogBudget) -> [LanguageProblem]
  ) throws -> LogBudget {
    let url = URL(fileURLWithPath: path)
    let data = try InputFile.read(path, limit: YAMLDocument.maximumSize)
    let text = try ScenarioReader.text(of: data, path: path)
    let document = YAMLDocument(text: text, file: path)
    let root = document.root(of: text)
    guard root?.mapping?.contains(where: { $0.key.string == "sections" }) == true else {
      return try budget(of: ScenarioReader.read(text: text, url: url, path: path), scale)
    }
    let budget = root.flatMap { self.budget(of: $0, document, url, model) }
    for problem in budget.map(problems) ?? [] { document.report(problem, at: "sections") }
    guard let budget, document.diagnostics.isEmpty else {
      throw ScenarioDiagnostics(document.diagnostics)
    }
    return budget
  }

  /// A scenario's variants as sections.
  private static func budget(of scenario: Scenario, _ scale: Int) throws -> LogBudget {
    LogBudget(
      path: scenario.path, model: scenario.model,
      sections: scenario.variants.map {
        LogBudget.Section(
          name: $0.name, expect: $0.expect, line: $0.line,
          judgedSteps: $0.steps(sharing: scenario.steps).filter { $0.expect != nil }
            .map(\.text))
      },
      scope: CountExpressionScope(
        rows: EntityCount.totals(try scenario.data.counts(scale: scale), in: scenario.model),
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
    let lookup = ModelLookup(document: document, folder: url.deletingLastPathComponent())
    let named = entries["model"] == nil ? nil : lookup.model(named: entries["model"], data: nil)
    guard let model = named?.model ?? (entries["model"] == nil ? model : nil) else {
      if entries["model"] == nil {
        document.report(
          LanguageProblem(
            "the model of the log's app isn't known", at: SourceRange(line: 1, column: 1),
            nextStep: "write `model: NAME`, or give --model or --store"), at: "model")
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

  /// `data: {Mood: 5000, Country: 60}`: rows of the app's store, for formulas.
  private static func rows(
    of entry: YAMLEntry, _ document: YAMLDocument, _ names: ModelNames
  ) -> CountExpressionScope {
    var scope = CountExpressionScope()
    for row in document.entries(of: entry.node, at: entry.keyPath, known: nil, what: "`data`") ?? []
    {
      _ = document.noting(at: row.keyPath) { () throws(LanguageProblem) in
        try names.entity(row.key.text, at: row.key.place)
      }
      scope.rows[row.key.text] = count(of: row, document, names, above: scope) ?? 0
    }
    return scope
  }

  /// Rows as an expression over the entities above.
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
          "`\(error.text)` has no value: \(error.message)", at: error.place,
          nextStep: "a number may use the entities written before it")
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
          "there's no section", at: entry.key.place,
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
      let place = document.place(of: node)
      let name = parts["name"].flatMap { document.text(of: $0) }?.text
      if name == nil || !seen.insert(name ?? "").inserted {
        document.report(
          LanguageProblem(
            name.map { "two sections are named `\($0)`" } ?? "the section has no name", at: place,
            nextStep: "write the name that follows `cdprof: begin` in the log"), at: keyPath)
      }
      let reader = ExpectReader(
        document: document, scopes: ScopeResolver(names: names, stepNames: []),
        source: parts["source"].flatMap(document.sourceMark) ?? source)
      let block = parts["expect"].flatMap(reader.block) ?? ExpectBlock(line: place.line)
      return LogBudget.Section(name: name ?? "", expect: block, line: place.line)
    }
  }
}

/// What the sections of a log may cost.
package struct LogBudget: Sendable {
  /// One section and what is expected of it.
  package struct Section: Sendable {
    package var name: String
    package var expect: ExpectBlock
    /// The line it begins on.
    package var line: Int
    /// The steps of a scenario's variant that have expectations of their own, which no log contains.
    package var judgedSteps: [String] = []
  }

  /// The file as it was given.
  package var path: String
  package var model: NSManagedObjectModel
  package var sections: [Section]
  /// The rows of entities that formulas name.
  package var scope: CountExpressionScope
  /// Whether it is a scenario, whose variants are the sections: what no log contains is then left out.
  package var isScenario: Bool
  /// Findings that the scenario keeps quiet.
  package var silence: [FindingSuppression] = []
}
