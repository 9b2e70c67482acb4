import OpenCoreData
internal import Yams

/// Reads an `expect` block: metrics with their laws, and the list of findings.
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
    var source = source
    var lawEntry = entry
    if entry.node.mapping != nil {
      guard
        let parts = document.entries(
          of: entry.node, at: entry.keyPath, known: ["law", "source"], what: "an expectation")
      else { return nil }
      guard let law = parts.first(where: { $0.key.text == "law" }) else {
        document.report(
          LanguageProblem(
            "`\(entry.key.text)` has no law", at: entry.key.place,
            nextStep: "write `{law: 1 + Mood, source: book}`"), at: entry.keyPath)
        return nil
      }
      lawEntry = law
      if let mark = parts.first(where: { $0.key.text == "source" }) {
        source = document.sourceMark(of: mark) ?? source
      }
    }
    guard let word = document.text(of: lawEntry, wanted: "a law such as `1 + Mood`") else {
      return nil
    }
    let law = document.noting(at: lawEntry.keyPath) { () throws(LanguageProblem) in
      let law = try Law(word)
      try scopes.check(law)
      return law
    }
    guard let (reference, scoped) = metric, let law else { return nil }
    return Expectation(
      metric: reference, scoped: scoped, law: law, source: source, line: entry.key.place.line)
  }

  private func reference(_ key: Word) throws(LanguageProblem) -> MetricReference {
    do {
      return try MetricReference(key)
    } catch {
      guard error.suggestion == nil,
        let near = NearestName.of(key.text, among: ["findings", "source"])
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
