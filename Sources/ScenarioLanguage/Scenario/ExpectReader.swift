import OpenCoreData
import WorkbenchText
internal import Yams

/// Reads an `expect` block: metrics with their laws, plans with their demands, the list of findings.
struct ExpectReader {
  let document: YAMLDocument
  let scopes: ScopeResolver
  /// The mark of everything that carries none of its own.
  let source: SourceMark

  /// The block; nil when the node is no map, which is noted.
  func block(of entry: YAMLEntry) -> ExpectBlock? {
    guard
      let entries = document.entries(
        of: entry.node, at: entry.keyPath, known: nil, what: "`expect`")
    else { return nil }
    var block = ExpectBlock(line: entry.key.place.line)
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
    guard let (lawEntry, source) = law(of: entry, source: source, example: "1 + Mood"),
      let word = document.text(of: lawEntry, wanted: "a law such as `1 + Mood`")
    else { return nil }
    let law = document.noting(at: lawEntry.keyPath) { () throws(LanguageProblem) in
      let law = try Law(word)
      try scopes.check(law)
      return law
    }
    guard let (reference, scoped) = metric, let law else { return nil }
    return Expectation(
      metric: reference, scoped: scoped, law: law, source: source, line: entry.key.place.line)
  }

  /// The entry with the law itself, and its mark: `{law: …, source: …}`, or the law alone.
  private func law(
    of entry: YAMLEntry, source: SourceMark, example: String
  ) -> (YAMLEntry, SourceMark)? {
    guard entry.node.mapping != nil else { return (entry, source) }
    guard
      let parts = document.entries(
        of: entry.node, at: entry.keyPath, known: ["law", "source"], what: "an expectation")
    else { return nil }
    guard let law = parts.first(where: { $0.key.text == "law" }) else {
      document.report(
        LanguageProblem(
          "`\(entry.key.text)` has no law", at: entry.key.place,
          nextStep: "write `{law: \(example), source: book}`"), at: entry.keyPath)
      return nil
    }
    let mark = parts.first { $0.key.text == "source" }.flatMap(document.sourceMark)
    return (law, mark ?? source)
  }

  /// What plans must be: one demand, or a list of them.
  private func plans(of entry: YAMLEntry, source: SourceMark) -> [PlanExpectation] {
    let step = document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
      let step = try PlanExpectation.step(of: entry.key)
      if let step { try scopes.checkStep(step) }
      return step
    }
    guard let (lawEntry, source) = law(of: entry, source: source, example: "avoids scan") else {
      return []
    }
    let elements = document.elements(of: lawEntry)
    if elements.isEmpty {
      _ = document.text(of: lawEntry, wanted: "a demand such as `avoids scan`")
    }
    return elements.compactMap { node, keyPath in
      document.noting(at: keyPath) { () throws(LanguageProblem) in
        guard let word = document.word(of: node) else {
          throw LanguageProblem(
            "a demand is a few words", at: document.place(of: node),
            nextStep: "write one of: \(PlanDemand.forms.joined(separator: ", "))")
        }
        return PlanExpectation(
          step: step??.text, demand: try PlanDemand(word), source: source,
          line: entry.key.place.line, place: word.place(at: 0, length: word.text.count))
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
        error.message, at: error.place, didYouMean: near, nextStep: error.nextStep)
    }
  }

  private func findings(of entry: YAMLEntry, source: SourceMark) -> ExpectBlock.Findings? {
    guard let elements = document.list(of: entry, what: "findings") else { return nil }
    let names = elements.compactMap { node, keyPath -> FindingName? in
      document.noting(at: keyPath) { () throws(LanguageProblem) in
        guard let word = document.word(of: node) else {
          throw LanguageProblem(
            "a finding is a word", at: document.place(of: node),
            nextStep: "write for example `fault-storm(Mood)`")
        }
        let finding = try FindingName(word)
        try scopes.check(finding)
        return finding
      } ?? nil
    }
    return ExpectBlock.Findings(names: names, source: source, line: entry.key.place.line)
  }
}
