import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Parses the variants of a scenario: their changes to the shared steps and their expectations.
struct VariantReader {
  let document: YAMLDocument
  let names: ModelNames
  /// The check of a variant's first step.
  let check: StepCheck
  /// The entities whose row counts formulas can use.
  let rowNames: ModelNames
  /// The shared steps, without their own expectations.
  let shared: [Step]
  /// The source of expectations that don't specify one.
  let source: SourceMark
  /// The sentence about Apple platforms for variants that don't have their own.
  let apple: String
  let steps: StepReader

  static let keys = ["name", "why", "source", "apple", "set", "first", "then", "expect"]

  /// Returns the variants of a list, and reports their problems.
  func variants(of entry: YAMLEntry) -> [Variant] {
    let elements = document.list(of: entry, what: "variants") ?? []
    if elements.isEmpty, entry.node.sequence != nil {
      document.report(
        LanguageProblem(
          "`variants` is empty", at: entry.key.range,
          nextStep: "write at least one: `- {name: plain, expect: {selects: 1}}`"),
        at: entry.keyPath)
    }
    var seen = Set<String>()
    return elements.compactMap { node, keyPath in
      guard let variant = variant(of: node, at: keyPath) else { return nil }
      // A name that's missing or isn't text is reported already.
      if !variant.name.isEmpty, !seen.insert(variant.name).inserted {
        document.report(
          LanguageProblem(
            "two variants are named `\(variant.name)`", at: document.range(of: node),
            nextStep: "give each variant a unique name"), at: keyPath)
      }
      return variant
    }
  }

  /// Returns the only variant of a scenario without `variants`: its shared steps, unchanged.
  func onlyVariant(named name: String, expect entry: YAMLEntry?, line: Int) -> Variant {
    var variant = Variant(name: name, expect: ExpectBlock(line: line), line: line)
    variant.apple = apple
    checkSteps(of: variant)
    if let entry, let block = expectReader(variant, source).block(of: entry) {
      variant.expect = block
    }
    return variant
  }

  private func variant(of node: Node, at keyPath: String) -> Variant? {
    guard
      let entries = document.entries(
        of: node, at: keyPath, known: VariantReader.keys, what: "a variant")
    else { return nil }
    let line = document.range(of: node).line
    var variant = Variant(name: "", expect: ExpectBlock(line: line), line: line)
    variant.apple = apple
    var source = source
    var expect: YAMLEntry?
    var isNameReported = false
    for entry in entries {
      switch entry.key.text {
      case "name":
        let name = document.text(of: entry)
        variant.name = name?.text ?? ""
        isNameReported = name == nil
      case "why": variant.why = (document.text(of: entry)?.text ?? "").trimmedLines
      case "apple": variant.apple = (document.text(of: entry)?.text ?? "").trimmedLines
      case "source": source = document.sourceMark(of: entry) ?? source
      case "set": variant.set = settings(of: entry)
      case "first": variant.first = steps.steps(of: entry)
      case "then": variant.then = steps.steps(of: entry)
      default: expect = entry
      }
    }
    if variant.name.isEmpty, !isNameReported {
      document.report(
        LanguageProblem(
          "the variant has no name", at: document.range(of: node), nextStep: "write `name: …`"),
        at: keyPath)
    }
    checkSteps(of: variant)
    if let expect, let block = expectReader(variant, source).block(of: expect) {
      variant.expect = block
    }
    return variant
  }

  private func expectReader(_ variant: Variant, _ source: SourceMark) -> ExpectReader {
    ExpectReader(document: document, scopes: scopes(of: variant), source: source)
  }

  /// Returns the resolver of the scopes that a variant's expectations can use.
  func scopes(of variant: Variant) -> ScopeResolver {
    let steps = variant.steps(sharing: shared)
    let contexts = steps.filter { $0.verb == .context }.map(\.subject)
    return ScopeResolver(
      names: names, rowNames: rowNames,
      stepNames: steps.compactMap(\.name) + document.lostNames.sorted(),
      contextNames: [ContextShape.main] + contexts)
  }

  private func checkSteps(of variant: Variant) {
    var known = KnownNames()
    var check = check
    for step in variant.steps(sharing: shared) {
      if let line = document.lostMigration, step.ranges.verb.line > line { return }
      guard !isLost(step, known) else {
        // So is what it would name.
        if let name = step.label { document.lostNames.insert(name) }
        continue
      }
      let problems = check.problems(of: step, known: known)
      for problem in problems { document.report(problem, at: document.keyPath(of: step)) }
      // The next steps use a version that isn't known.
      guard check.knowsModel(after: step) else { return }
      known = known.after(step)
      check = check.after(step)
    }
  }

  /// Returns whether a step uses a name that's missing only because its own step is invalid.
  private func isLost(_ step: Step, _ known: KnownNames) -> Bool {
    let lost = document.lostNames
    let contexts = [known.context(of: step), step.name(of: .parent)].compactMap(\.self)
    if contexts.contains(where: { known.contexts[$0] == nil && lost.contains($0) }) { return true }
    let results =
      step.predicateReferences.map(\.name) + (step.assignments + step.removals).map(\.value)
    if results.contains(where: { known.results[$0] == nil && lost.contains($0) }) { return true }
    return step.verb.subject == .result && known.results[step.subject] == nil
      && known.contexts[step.subject] == nil && lost.contains(step.subject)
  }

  private func settings(of entry: YAMLEntry) -> [Setting] {
    let entries =
      document.entries(of: entry.node, at: entry.keyPath, known: nil, what: "`set`") ?? []
    return entries.compactMap { entry in
      let target = entry.key.text.prefix { $0 != "." }
      guard !document.lostNames.contains(String(target)) else { return nil }
      return document.noting(at: entry.keyPath) { () throws(LanguageProblem) in
        try setting(of: entry)
      }
    }
  }

  private func setting(of entry: YAMLEntry) throws(LanguageProblem) -> Setting {
    let parts = entry.key.text.split(separator: ".", omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count == 2 else {
      throw LanguageProblem(
        "`\(entry.key.text)` isn't an option of a named step", at: entry.key.range,
        nextStep: "write `NAME.option: value`, such as `moods.values: no`")
    }
    guard let step = shared.first(where: { $0.label == parts[0] }) else {
      let known = shared.compactMap(\.label)
      throw LanguageProblem(
        "there's no shared step `\(parts[0])`",
        at: entry.key.range(at: 0, length: parts[0].count),
        didYouMean: NearestName.of(parts[0], among: known),
        nextStep: known.isEmpty
          ? "name a step with `as`" : "use one of: \(known.joined(separator: ", "))")
    }
    let option = Word(
      parts[1], at: entry.key.range(at: parts[0].count + 1, length: parts[1].count))
    let value = try steps.value(of: entry)
    let (read, words) = try StepBuilder.option(option, value, of: step.verb)
    return Setting(target: parts[0], option: read, words: words)
  }
}

extension String {
  /// The trimmed lines of a folded or literal scalar, joined with spaces.
  var trimmedLines: String {
    split(whereSeparator: \.isNewline).map { $0.trimmed }.joined(separator: " ")
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let start = drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }
}
