package import Foundation
import OpenCoreData
internal import Yams

/// Reads a scenario file and checks every word of it before anything runs.
package enum ScenarioReader {
  /// The keys of a scenario.
  package static let keys = [
    "name", "chapter", "covers", "source", "story", "model", "data", "steps", "variants", "expect",
  ]

  /// The scenario of a file.
  ///
  /// Reads the file and its model; opens no store except to take the model out of a copied one.
  /// - Parameter path: the file as it was given, for messages and call sites; by default its path.
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong; `NSError` when the file cannot be
  ///   read.
  package static func read(_ url: URL, path: String? = nil) throws -> Scenario {
    let data = try Data(contentsOf: url)
    let path = path ?? url.relativePath
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw ScenarioDiagnostics([
        ScenarioDiagnostic(
          file: path, keyPath: "",
          problem: LanguageProblem(
            "the file is not UTF-8 text", at: SourcePlace(line: 1, column: 1),
            nextStep: "save it as UTF-8"), sourceLine: nil)
      ])
    }
    return try read(text: text, url: url, path: path)
  }

  /// The scenario of a text that stands, or could stand, at a file's place.
  ///
  /// - Throws: `ScenarioDiagnostics` with everything that is wrong.
  package static func read(
    text: String, url: URL, path: String
  ) throws(ScenarioDiagnostics) -> Scenario {
    let document = YAMLDocument(text: text, file: path)
    let scenario = document.root(of: text).flatMap { root in
      ScenarioAssembly(document: document, url: url).scenario(of: root)
    }
    guard let scenario, document.diagnostics.isEmpty else {
      throw ScenarioDiagnostics(document.diagnostics)
    }
    return scenario
  }
}

/// Puts a scenario together from the entries of its root.
private struct ScenarioAssembly {
  let document: YAMLDocument
  let url: URL

  func scenario(of root: Node) -> Scenario? {
    guard
      let list = document.entries(
        of: root, at: "", known: ScenarioReader.keys, what: "a scenario")
    else { return nil }
    let entries = Dictionary(
      list.map { ($0.key.text, $0) }, uniquingKeysWith: { first, _ in first })
    for key in ["name", "steps"] where entries[key] == nil {
      document.report(
        LanguageProblem(
          "the scenario has no `\(key)`", at: SourcePlace(line: 1, column: 1),
          nextStep: "write `\(key):`"), at: key)
    }
    let source = entries["source"].flatMap(document.sourceMark) ?? .derived
    let lookup = ModelLookup(document: document, folder: url.deletingLastPathComponent())
    guard let found = lookup.model(named: entries["model"], data: entries["data"]) else {
      return nil
    }
    let names = ModelNames(found.model)
    let scopes = ScopeResolver(names: names, stepNames: [])
    let data = entries["data"].flatMap {
      DataReader(document: document, scopes: scopes, folder: lookup.folder)
        .plan(of: $0, copying: found.store)
    }
    let steps = StepReader(
      document: document,
      expects: ExpectReader(document: document, scopes: scopes, source: source))
    let shared = entries["steps"].map(steps.steps) ?? []
    let variants = VariantReader(
      document: document, names: names, check: StepCheck(model: found.model), shared: shared,
      source: source, steps: steps)
    let name = entries["name"].flatMap { document.text(of: $0) }?.text ?? ""
    return Scenario(
      name: name, file: url, path: document.file,
      chapter: entries["chapter"].flatMap(document.number),
      covers: entries["covers"].map { covers(of: $0, source: source) } ?? [],
      story: entries["story"].flatMap { document.text(of: $0) }?.text ?? "",
      modelName: entries["model"].flatMap { document.word(of: $0.node) }?.text,
      modelURL: found.url, model: found.model,
      data: data ?? DataPlan(source: .generated([])), steps: shared,
      variants: self.variants(of: entries, reader: variants, named: name))
  }

  private func variants(
    of entries: [String: YAMLEntry], reader: VariantReader, named name: String
  ) -> [Variant] {
    guard let entry = entries["variants"] else {
      let line = entries["steps"]?.key.place.line ?? 1
      return [reader.onlyVariant(named: name, expect: entries["expect"], line: line)]
    }
    if let expect = entries["expect"] {
      document.report(
        LanguageProblem(
          "a scenario with variants expects in each of them", at: expect.key.place,
          nextStep: "move `expect` into a variant"), at: expect.keyPath)
    }
    return reader.variants(of: entry)
  }

  private func covers(of entry: YAMLEntry, source: SourceMark) -> [CatalogueReference] {
    (document.list(of: entry, what: "catalogue ids") ?? []).compactMap { node, keyPath in
      var mark = source
      var word = document.word(of: node)
      if let pair = node.mapping?.first, node.mapping?.count == 1,
        let key = document.word(of: pair.key)
      {
        let entry = YAMLEntry(key: key, node: pair.value, keyPath: keyPath)
        mark = document.sourceMark(of: entry) ?? source
        word = key
      }
      guard let word, CatalogueReference.isID(word.text) else {
        document.report(
          LanguageProblem(
            "this is no catalogue id", at: word?.place ?? document.place(of: node),
            nextStep: "write for example `S6.01`, or `S6.01: book` to mark its source"), at: keyPath
        )
        return nil
      }
      return CatalogueReference(id: word.text, source: mark)
    }
  }
}

extension CatalogueReference {
  /// Whether a word is formed as an id of the catalogue: `S6.01`, `S15-10`, `S-C33`.
  fileprivate static func isID(_ text: String) -> Bool {
    text.wholeMatch(of: /S(\d+[.\-]\d+|-[A-Z]\d+)/) != nil
  }
}
