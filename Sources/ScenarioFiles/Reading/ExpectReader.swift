import OpenCoreData
import ProfileEvents
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Parses an `expect` block: metrics with formulas, plans with requirements, and the list of
/// findings.
struct ExpectReader {
  let document: YAMLDocument
  let scopes: ScopeResolver
  /// The source of expectations that don't specify one.
  let source: SourceMark

  /// Returns the block, or records a problem and returns `nil` if the node isn't a map.
  func block(of entry: YAMLEntry) -> ExpectBlock? {
    guard
      let entries = document.entries(
        of: entry.node, at: entry.keyPath, known: nil, what: "`expect`")
    else { return nil }
    var block = ExpectBlock(line: entry.key.range.line)
    var source = source
    if let mark = entries.first(where: { $0.key.text == "source" }) {
      source = document.sourceMark(of: mark) ?? source
    }
    for entry in entries where entry.key.text != "source" {
      if entry.key.text == "findings" {
        block.findings = findings(of: entry, source: source)
      } else if PlanExpectation.isKey(entry.key.text) {
        block.plans += plans(of: entry, source: source)
      } else if let expectation = expectation(of: entry, source: source) {
        block.expectations.append(expectation)
      }
    }
    return block
  }

  private func expectation(of entry: YAMLEntry, source: SourceMark) -> Expectation? {
    let metric = document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let reference = try self.reference(entry.key)
      return (reference, try scopes.scoped(reference))
    }
    guard let (value, source) = expected(of: entry, source: source, example: "1 + Mood"),
      let word = document.text(of: value, wanted: "a formula, such as `1 + Mood`")
    else { return nil }
    let constraint = document.noting(at: value.keyPath) { () throws(LanguageProblem) in
      let constraint = try CountConstraint(word)
      try scopes.check(constraint)
      return constraint
    }
    guard let (reference, scoped) = metric, let constraint else { return nil }
    return Expectation(
      metric: reference, scoped: scoped, constraint: constraint, source: source,
      line: entry.key.range.line)
  }

  /// Returns the entry with the expected value, and its source: `{expected: …, source: …}`, or only
  /// the value.
  private func expected(
    of entry: YAMLEntry, source: SourceMark, example: String
  ) -> (YAMLEntry, SourceMark)? {
    guard entry.node.mapping != nil else { return (entry, source) }
    guard
      let parts = document.entries(
        of: entry.node, at: entry.keyPath, known: ["expected", "source", "law"],
        what: "an expectation")
    else { return nil }
    // `law` is the former key.
    let expected = parts.filter { ["expected", "law"].contains($0.key.text) }
    guard let value = expected.first, expected.count == 1 else {
      document.report(
        LanguageProblem(
          expected.isEmpty
            ? "`\(entry.key.text)` has no value" : "`expected` and `law` can't be combined",
          at: expected.last?.key.range ?? entry.key.range,
          nextStep: "write `{expected: \(example), source: book}`"), at: entry.keyPath)
      return nil
    }
    let mark = parts.first { $0.key.text == "source" }.flatMap(document.sourceMark)
    return (value, mark ?? source)
  }

  /// Returns the plan expectations of an entry: one requirement or a list.
  private func plans(of entry: YAMLEntry, source: SourceMark) -> [PlanExpectation] {
    let step = document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let step = try PlanExpectation.step(of: entry.key)
      if let step { try scopes.checkStep(step) }
      return step
    }
    guard let (value, source) = expected(of: entry, source: source, example: "avoids scan") else {
      return []
    }
    let elements = document.elements(of: value)
    if elements.isEmpty {
      _ = document.text(of: value, wanted: "a plan requirement, such as `avoids scan`")
    }
    return elements.compactMap { node, keyPath in
      document.noting(at: keyPath) { () throws(LanguageProblem) in
        guard let word = document.word(of: node) else {
          throw LanguageProblem(
            "a plan requirement must be text", at: document.range(of: node),
            nextStep: "write one of: \(PlanRequirement.forms.joined(separator: ", "))")
        }
        return PlanExpectation(
          step: step??.text, requirement: try PlanRequirement(word), source: source,
          line: entry.key.range.line, range: word.range(at: 0, length: word.text.count))
      }
    }
  }

  private func reference(_ key: Word) throws(LanguageProblem) -> MetricReference {
    do {
      return try MetricReference(key)
    } catch {
      guard error.suggestion == nil,
        let near = NearestName.of(key.text, among: ["findings", "source", PlanExpectation.word])
      else { throw error }
      throw LanguageProblem(
        error.message, at: error.range, didYouMean: near, nextStep: error.nextStep)
    }
  }

  private func findings(of entry: YAMLEntry, source: SourceMark) -> ExpectBlock.Findings? {
    let isEmpty = document.isEmpty(entry.node)
    guard !isEmpty, document.word(of: entry.node)?.text != "none" else {
      document.report(
        LanguageProblem(
          "`findings` must be a list of findings",
          at: isEmpty ? entry.key.range : document.range(of: entry.node),
          nextStep: "if none may fire, write `[]` or omit `findings`"), at: entry.keyPath)
      return nil
    }
    guard let elements = document.list(of: entry, what: "findings") else { return nil }
    var listed: Set<String> = []
    let names = elements.compactMap { node, keyPath -> FindingName? in
      document.noting(at: keyPath) { () throws(LanguageProblem) in
        guard let word = document.word(of: node) else {
          throw LanguageProblem(
            "a finding must be a word", at: document.range(of: node),
            nextStep: "write, for example, `fault-storm(Mood)`")
        }
        let finding = try FindingName(word)
        try scopes.check(finding)
        guard listed.insert(word.text).inserted else {
          throw LanguageProblem(
            "the finding `\(word.text)` is listed twice", at: word.range,
            nextStep: "remove one: a finding is expected at any number of call sites")
        }
        return finding
      } ?? nil
    }
    return ExpectBlock.Findings(names: names, source: source, line: entry.key.range.line)
  }
}

/// Resolves the scope in a metric's or a finding's parentheses to an entity, relationship, context,
/// or step.
struct ScopeResolver {
  let names: ModelNames
  /// The entities whose row counts formulas can use: those of the data.
  let rowNames: ModelNames
  /// The names of the variant's steps.
  let stepNames: [String]
  /// The names of the variant's contexts.
  var contextNames = [ContextShape.main]

  /// Returns the metric with its resolved scope.
  ///
  /// - Throws: A problem at the scope if it's unknown or if the metric doesn't support it.
  func scoped(_ reference: MetricReference) throws(LanguageProblem) -> ScopedMetric {
    let metric = reference.metric
    guard let word = reference.scope else { return ScopedMetric(metric) }
    let scope = try scope(word, of: metric)
    let isAllowed =
      switch scope {
      case .all: true
      case .entity: metric.scopes.contains(.entity)
      case .relationship: metric.scopes.contains(.relationship)
      case .context: metric.scopes.contains(.context)
      case .step: metric.scopes.contains(.step)
      }
    guard isAllowed else {
      throw LanguageProblem(
        "`\(metric.rawValue)` isn't available for `\(word.text)`", at: word.range,
        nextStep: "use \(ScopeResolver.words(metric.scopes))")
    }
    return ScopedMetric(metric, scope)
  }

  /// Checks that a step with this name exists.
  func checkStep(_ word: Word) throws(LanguageProblem) {
    guard !stepNames.contains(word.text) else { return }
    throw LanguageProblem(
      "there's no step `\(word.text)`", at: word.range,
      didYouMean: NearestName.of(word.text, among: stepNames),
      nextStep: stepNames.isEmpty
        ? "write `plan` without a name" : "use one of: \(ModelNames.list(stepNames))")
  }

  /// Checks that a finding's rule exists and that its subject is an entity or a relationship.
  func check(_ finding: FindingName) throws(LanguageProblem) {
    try check(rule: finding.rule)
    if finding.subject.text.contains(".") {
      _ = try relationship(finding.subject)
    } else {
      _ = try names.entity(finding.subject.text, at: finding.subject.range)
    }
  }

  /// Checks that a rule exists.
  func check(rule: Word) throws(LanguageProblem) {
    let rules = RuleName.allCases.map(\.rawValue)
    guard rules.contains(rule.text) else {
      throw LanguageProblem(
        "unknown finding `\(rule.text)`", at: rule.range,
        didYouMean: NearestName.of(rule.text, among: rules),
        nextStep: "use one of: \(rules.joined(separator: ", "))")
    }
  }

  /// Checks that the names of a formula are entities.
  func check(_ constraint: CountConstraint) throws(LanguageProblem) {
    for name in constraint.expressions.flatMap(\.names) {
      try check(name)
    }
  }

  /// Checks that a name in an expression is the name of an entity.
  func check(_ name: CountExpression.Name) throws(LanguageProblem) {
    try rowNames.checkRows(of: name)
  }

  private func scope(_ word: Word, of metric: Metric) throws(LanguageProblem) -> MetricScope {
    if word.text.contains(".") {
      return try relationship(word)
    }
    if stepNames.contains(word.text) {
      return .step(word.text)
    }
    if names.model.entitiesByName[word.text] != nil {
      return .entity(word.text)
    }
    if contextNames.contains(word.text) {
      return .context(word.text)
    }
    var known = [String]()
    if metric.scopes.contains(.entity) { known += names.entities }
    if metric.scopes.contains(.step) { known += stepNames }
    if metric.scopes.contains(.context) { known += contextNames }
    throw LanguageProblem(
      "`\(word.text)` isn't an entity, a step, or a context", at: word.range,
      didYouMean: NearestName.of(word.text, among: known),
      nextStep: known.isEmpty
        ? "write `Entity.relationship`" : "write one of: \(ModelNames.list(known))")
  }

  private func relationship(_ word: Word) throws(LanguageProblem) -> MetricScope {
    let parts = word.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let entity = try names.entity(parts[0], at: word.range(at: 0, length: parts[0].count))
    let name = parts.dropFirst().joined(separator: ".")
    let range = word.range(at: parts[0].count + 1, length: name.count)
    guard try names.property(name, of: entity, at: range) is NSRelationshipDescription else {
      throw LanguageProblem(
        "`\(name)` is an attribute of \(parts[0]), not a relationship", at: range,
        nextStep:
          "use one of: \(ModelNames.list(entity.relationshipsByName.keys.sorted()))")
    }
    return .relationship(entity: parts[0], name: name)
  }

  private static func words(_ scopes: Metric.Scopes) -> String {
    var words = [String]()
    if scopes.contains(.entity) { words.append("an entity") }
    if scopes.contains(.relationship) { words.append("Entity.relationship") }
    if scopes.contains(.context) { words.append("a context's name") }
    if scopes.contains(.step) { words.append("a step's name") }
    return words.isEmpty ? "no scope" : words.joined(separator: " or ")
  }
}
