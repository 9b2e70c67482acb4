import ManagedModel
import ProfileEvents
package import ScenarioLanguage
package import WorkbenchText

/// Evaluates the sections of a log against their expectations.
package struct LogBudgetEvaluator {
  private let budget: LogBudget
  private let tables: LogTables

  package init(budget: LogBudget) {
    self.budget = budget
    tables = LogTables(budget.model)
  }

  /// Evaluates each occurrence of the budget's sections in a log.
  ///
  /// - Throws: A `CountExpressionError` if a formula has no value.
  package func evaluation(of report: LogReport) throws -> LogEvaluation {
    var evaluation = LogEvaluation()
    for section in budget.sections {
      let positions = report.sections.indices.filter { report.sections[$0].name == section.name }
      if positions.isEmpty { evaluation.missing.append((section.name, section.line)) }
      for position in positions {
        evaluation.results[position] = try results(
          of: section, on: report.sections[position], report)
      }
      if budget.isScenario, !positions.isEmpty {
        evaluation.notEvaluated += notEvaluated(of: section, withHits: report.logsHits)
      }
    }
    if report.leftOutSections > 0 {
      evaluation.leftOut =
        "\(NumberText.counted(report.leftOutSections, "section")) beyond the limit of "
        + NumberText.grouped(InputLimits.logSections)
    }
    return evaluation
  }

  private func results(
    of section: LogBudget.Section, on found: LogSection, _ report: LogReport
  ) throws -> [ExpectationResult] {
    var results: [ExpectationResult] = []
    for expectation in section.expect.expectations {
      if let reason = reasonUnavailable(expectation, withHits: report.logsHits) {
        if !budget.isScenario {
          results.append(try result(of: expectation, value: nil, differences: [reason]))
        }
        continue
      }
      guard found.keepsSubjects || expectation.scoped.scope == .all else {
        results.append(
          try result(
            of: expectation, value: nil, differences: [LogBudgetEvaluator.noSubjects]))
        continue
      }
      let value = found.costs.value(of: expectation.scoped, table: tables.table)
      let hidden = found.costs.hidden(of: expectation.scoped, table: tables.table)
      let unassigned = found.costs.unassigned(of: expectation.scoped)
      var differences = differences(expectation.scoped, in: found, of: report)
      if unassigned > 0 {
        differences += reasons(for: unassigned, of: expectation.scoped.metric, in: found, report)
      }
      if hidden > 0 {
        differences.append(
          "up to \(NumberText.grouped(hidden)) more: the log hides their objects or relationships")
      }
      results.append(
        try result(
          of: expectation, value: value, unassigned: unassigned + hidden,
          differences: differences))
    }
    if let result = storms(of: section, on: found) { results.append(result) }
    return results
  }

  /// Returns descriptions of a scenario's expectations that can't be evaluated in a log.
  private func notEvaluated(of section: LogBudget.Section, withHits hits: Bool) -> [String] {
    let reasons =
      section.expect.expectations.compactMap { expectation in
        reasonUnavailable(expectation, withHits: hits).map { "\(expectation.metric.text): \($0)" }
      }
      + (section.expect.findings?.names ?? []).compactMap { finding in
        reasonUnavailable(finding).map { "\(finding.text): \($0)" }
      }
      + section.expect.plans.map { "\($0.text): \(LogBudgetEvaluator.noPlans)" }
      + section.stepsWithExpectations.map {
        "the expectations of `\($0)`: logs don't contain steps"
      }
    return reasons.map { "\(section.name) · \($0)" }
  }

  /// The reason that expectations for query plans can't be evaluated in a log.
  static let noPlans = "query plans aren't evaluated in a log"

  /// The reason that tables, entities, and relationships aren't counted separately in a section.
  static let noSubjects =
    "all sections together have more than \(NumberText.grouped(InputLimits.sectionSubjects)) tables, "
    + "entities, and relationships"

  /// Returns the reason that logs, or this log, don't contain an expectation's metric, or `nil` if
  /// the metric is available.
  func reasonUnavailable(_ expectation: Expectation, withHits hits: Bool) -> String? {
    let metric = expectation.scoped.metric
    guard metric.isAvailableInLogs(withHits: hits) else {
      return metric == .faults || metric == .hits
        ? "this log doesn't contain faults fulfilled from the row cache; expect `misses`"
        : "logs don't contain `\(metric.rawValue)`"
    }
    switch expectation.scoped.scope {
    case .all, .relationship: return nil
    case .entity(let name):
      if [.faults, .hits, .misses].contains(metric) { return nil }
      let root = tables.table(of: name).flatMap(tables.entity)
      guard root == name else {
        return "a log identifies tables, and the table of `\(name)` also contains rows of "
          + "`\(root ?? "another entity")`"
      }
      return nil
    default: return "logs don't contain steps or contexts"
    }
  }

  /// Returns the result of an expectation, which is met only if it's met with any part of the
  /// unassigned count.
  private func result(
    of expectation: Expectation, value: Int?, unassigned: Int = 0, differences: [String]
  ) throws -> ExpectationResult {
    let bounds = try expectation.constraint.bounds(in: budget.scope)
    let isMet = value.map { bounds.contains($0) && bounds.contains($0 + unassigned) } ?? false
    let (relation, expected) = try expectation.constraint.compared(in: budget.scope)
    return ExpectationResult(
      metric: expectation.metric.text, formula: expectation.constraint.text, relation: relation,
      expected: expected, actual: value.map { .number($0) } ?? .text("not logged"), isMet: isMet,
      source: expectation.source, location: CallSite(file: budget.path, line: expectation.line),
      differences: isMet ? [] : differences)
  }

  /// Returns the statements that a count consists of, those that contribute most first; none for
  /// counts to which no statement contributes, such as saves.
  private func differences(
    _ scoped: ScopedMetric, in section: LogSection, of report: LogReport
  ) -> [String] {
    let metric = scoped.metric
    guard LogBudgetEvaluator.isRead(metric) || LogBudgetEvaluator.changes[metric] != nil else {
      return []
    }
    guard section.keepsStatements else {
      return [
        "the statements of this section aren't kept: all sections together have more than "
          + NumberText.grouped(InputLimits.sectionStatements)
      ]
    }
    let table: String? =
      if case .entity(let name) = scoped.scope { tables.table(of: name) } else { nil }
    let counted = section.calls.keys.compactMap { number -> (LogStatement, Int)? in
      let statement = report.statements[number - 1]
      let count = count(of: metric, by: statement, in: section)
      guard count > 0 else { return nil }
      if let table, statement.table?.uppercased() != table.uppercased() { return nil }
      return (statement, count)
    }
    let lines = counted.sorted { ($0.1, $1.0.number) > ($1.1, $0.0.number) }.prefix(5).map {
      (metric == .rows ? "\(NumberText.counted($1, "row")) of " : "\(NumberText.grouped($1)) x ")
        + "#\($0.number) \(SQLAbbreviation.short($0.sql))"
    }
    return lines.isEmpty
      ? ["no such events in lines \(section.firstLine) to \(section.lastLine)"] : lines
  }

  /// The statements that metrics of changes count.
  private static let changes: [Metric: StatementKind] = [
    .inserts: .insert, .updates: .update, .deletes: .delete,
  ]

  private static func isRead(_ metric: Metric) -> Bool {
    [.selects, .fetches, .rows, .misses, .prefetches].contains(metric)
  }

  /// Returns how much the executions of a statement in a section contribute to a metric.
  private func count(
    of metric: Metric, by statement: LogStatement, in section: LogSection
  ) -> Int {
    if LogBudgetEvaluator.isRead(metric) { return section.reads[statement.number]?[metric] ?? 0 }
    return statement.kind == LogBudgetEvaluator.changes[metric]
      ? section.calls[statement.number] ?? 0 : 0
  }

  /// Returns the reasons why a count in the scope of an entity can be greater: statements beyond
  /// the maximum number of different ones, whose tables aren't kept, those without a table, and
  /// faults of entities beyond the maximum number.
  private func reasons(
    for unassigned: Int, of metric: Metric, in section: LogSection, _ report: LogReport
  ) -> [String] {
    guard LogCosts.ofStatements.contains(metric) else {
      return [
        "up to \(NumberText.grouped(unassigned)) more: the log has more than "
          + "\(NumberText.grouped(InputLimits.logSubjects)) entities or relationships, and the others "
          + "aren't counted separately"
      ]
    }
    guard section.keepsStatements else {
      return ["up to \(NumberText.grouped(unassigned)) more: their tables aren't known"]
    }
    let others = report.statements.filter(\.isOther)
      .reduce(0) { $0 + count(of: metric, by: $1, in: section) }
    let beyond = min(others, unassigned)
    return [
      (
        beyond,
        "the log has more than \(NumberText.grouped(InputLimits.logStatements)) different "
          + "statements, and the tables of the others aren't kept"
      ),
      (unassigned - beyond, "the log doesn't contain the tables of all statements"),
    ]
    .filter { $0.0 > 0 }.map { "up to \(NumberText.grouped($0.0)) more: \($0.1)" }
  }

  /// Returns the names that a finding can have in a log, which contains the objects of faults but
  /// not the relationships through which they were reached.
  ///
  /// For example, `fault-storm(Mood.country)` is `fault-storm(Country)` in a log, unless the
  /// relationship itself was the fault. A log doesn't show what was read of a relationship's
  /// destinations, so `count-per-row(Country.moods)` is the fault storm of that relationship.
  private func names(inLogsOf finding: String) -> Set<String> {
    guard let opening = finding.firstIndex(of: "(") else { return [finding] }
    let rule = finding[..<opening]
    if rule == RuleName.countPerRow.rawValue {
      return ["\(LogStorm.Kind.faultStorm.rawValue)\(finding[opening...])"]
    }
    let subject = finding[opening...].dropFirst().dropLast().split(separator: ".").map(String.init)
    if rule == RuleName.fetchLoop.rawValue {
      // A log contains the table of a fetch, which is that of its root entity.
      let root = subject.first.flatMap(tables.table).flatMap(tables.entity)
      return Set(root.map { ["\(rule)(\($0))"] } ?? []).union([finding])
    }
    var entity = subject.first.flatMap { budget.model.entitiesByName[$0] }
    for key in subject.dropFirst() {
      entity = entity?.relationshipsByName[key]?.destinationEntity
    }
    return Set((entity?.concreteEntityNames ?? []).map { "\(rule)(\($0))" }).union([finding])
  }

  /// The rules whose findings a log shows, by their own name or as a fault storm.
  private static let shown =
    LogStorm.Kind.allCases.map(\.rawValue) + [RuleName.countPerRow.rawValue]

  /// Returns the reason that a log can't show a finding, or `nil` if it can.
  func reasonUnavailable(_ finding: FindingName) -> String? {
    let known = LogBudgetEvaluator.shown + [RuleName.ineffectivePrefetch.rawValue]
    return known.contains(finding.rule.text) ? nil : "logs don't show `\(finding.rule.text)`"
  }

  /// Returns whether a scenario suppresses a finding of a log, by the name that it has in a run.
  private func hides(_ silence: FindingSuppression, _ storm: LogStorm) -> Bool {
    let isOfPrefetch = silence.rule == RuleName.ineffectivePrefetch.rawValue
    let rule = isOfPrefetch ? LogStorm.Kind.faultStorm.rawValue : silence.rule
    guard let subject = silence.subject else {
      let isOfRelationship = storm.kind == .faultStorm && storm.subject.contains(".")
      if silence.rule == RuleName.countPerRow.rawValue { return isOfRelationship }
      guard isOfPrefetch else { return rule == storm.kind.rawValue }
      return budget.model.entities.contains { entity in
        entity.relationshipsByName.keys.contains { key in
          names(inLogsOf: "\(rule)(\(entity.name ?? "").\(key))").contains(storm.name)
        }
      }
    }
    return names(inLogsOf: "\(rule)(\(subject))").contains(storm.name)
  }

  /// Compares the fault storms and fetch loops of a section with its `findings`.
  ///
  /// If `findings` is omitted, none may exist.
  private func storms(of section: LogBudget.Section, on found: LogSection) -> ExpectationResult? {
    let storms = found.storms.filter { storm in
      !budget.silence.contains { hides($0, storm) }
    }
    let expected = (section.expect.findings?.names ?? [])
      .filter { LogBudgetEvaluator.shown.contains($0.rule.text) }.map(\.text)
    if section.expect.findings == nil, storms.isEmpty { return nil }
    let names = storms.map(\.name)
    let meant = expected.map(names(inLogsOf:))
    let missing = zip(expected, meant).filter { $1.isDisjoint(with: names) }.map(\.0)
    // Objects that an ineffective prefetch doesn't load are fetched one at a time, which is all
    // that a log shows.
    let ineffective = (section.expect.findings?.names ?? [])
      .filter { $0.rule.text == RuleName.ineffectivePrefetch.rawValue }
      .map { self.names(inLogsOf: "\(LogStorm.Kind.faultStorm.rawValue)(\($0.subject.text))") }
    let surplus = storms.filter { storm in
      // A run detects fetch loops by line and a log by proximity, so a scenario can't list those
      // that only a log shows.
      if budget.isScenario, storm.kind == .fetchLoop { return false }
      return !(meant + ineffective).contains { $0.contains(storm.name) }
    }
    return ExpectationResult(
      metric: "findings", formula: expected.isEmpty ? "none" : expected.joined(separator: ", "),
      relation: .equal, expected: .names(expected), actual: .names(names),
      isMet: missing.isEmpty && surplus.isEmpty, source: section.expect.findings?.source ?? .ours,
      location: CallSite(
        file: budget.path, line: section.expect.findings?.line ?? section.expect.line),
      differences: missing.map { "\($0) isn't in the log" }
        + surplus.map { storm in
          "\(storm.name): \(NumberText.grouped(storm.count)) x #\(storm.statement) from line "
            + "\(storm.firstLine); fix: \(storm.fix)"
        })
  }
}

extension LogCosts {
  /// The metrics of statements, whose scope is a table.
  fileprivate static let ofStatements: Set<Metric> = [
    .selects, .fetches, .rows, .inserts, .updates, .deletes,
  ]

  /// Returns how much a count in the scope of an entity or a relationship can be greater: the count
  /// of statements that the log hides, or truncates before their table, or of faults and prefetches
  /// of what isn't counted separately.
  fileprivate func unassigned(of scoped: ScopedMetric) -> Int {
    switch scoped.scope {
    case .entity where LogCosts.ofStatements.contains(scoped.metric):
      return byTable.values.reduce(self[scoped.metric]) { $0 - $1[scoped.metric, default: 0] }
    // All faults of an entity or a relationship are counted separately, or none.
    case .entity(let name):
      return byEntity[name] == nil ? number(scoped.metric, in: otherEntities) : 0
    case .relationship(let entity, let name):
      let key = scoped.metric == .prefetches ? name : "\(entity).\(name)"
      return byRelationship[key] == nil ? number(scoped.metric, in: otherRelationships) : 0
    default: return 0
    }
  }

  /// Returns how much a count in the scope of an entity or a relationship can be greater because
  /// the log hides the objects of faults, such as `<private>`, or relationships.
  ///
  /// - Parameter table: Returns the table of an entity, or `nil` if it's unknown.
  fileprivate func hidden(of scoped: ScopedMetric, table: (String) -> String?) -> Int {
    switch scoped.scope {
    case .entity where LogCosts.ofStatements.contains(scoped.metric): return 0
    case .entity(let name):
      let known = table(name)?.uppercased()
      return hiddenFaults.filter { known == nil || $0.key.isEmpty || $0.key == known }
        .values.reduce(0) { $0 + number(scoped.metric, in: $1) }
    case .relationship(let entity, let name):
      let unknown = ["?", "<private>"]
      // The first one is the relationship itself.
      let faults = ([entity] + unknown).flatMap { owner in
        ([name] + unknown).map { "\(owner).\($0)" }
      }
      let keys = scoped.metric == .prefetches ? unknown : Array(faults.dropFirst())
      return number(scoped.metric, in: hiddenRelationships)
        + keys.reduce(0) { $0 + number(scoped.metric, in: byRelationship[$1]) }
    default: return 0
    }
  }
}

extension LogBudgetEvaluator {
  /// The expectations that logs can't show, and those that have no value.
  package var problems: [LanguageProblem] { budget.sections.flatMap { problems(in: $0.expect) } }

  private func problems(in block: ExpectBlock) -> [LanguageProblem] {
    var problems = (block.findings?.names ?? []).compactMap { finding in
      reasonUnavailable(finding).map { reason in
        LanguageProblem(
          reason, at: finding.rule.range,
          nextStep: "use fault-storm, fetch-loop, count-per-row, or ineffective-prefetch")
      }
    }
    problems += block.plans.map { plan in
      LanguageProblem(
        LogBudgetEvaluator.noPlans, at: plan.range ?? SourceRange(line: plan.line, column: 1),
        nextStep: "remove `\(plan.text)`; `cdprof run` evaluates the plans of a scenario")
    }
    for expectation in block.expectations {
      if let reason = reasonUnavailable(expectation, withHits: true) {
        problems.append(
          LanguageProblem(
            reason, at: expectation.metric.range,
            nextStep: "use selects, rows, fetches, misses, saves, or another metric in the log"))
      }
      do {
        _ = try expectation.constraint.bounds(in: budget.scope)
      } catch {
        problems.append(
          LanguageProblem(
            "`\(error.text)` has no value: \(error.message)", at: error.range,
            nextStep: "specify the rows of the app's store: `data: {Mood: 5000}`"))
      }
    }
    return problems
  }
}
