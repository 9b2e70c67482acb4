package import Foundation
import ProfileEvents
import ScenarioLanguage
import WorkbenchText

/// Reads and writes baselines as JSON with one entry a line, in a stable order.
package enum BaselineFile {
  /// The version of the format.
  private static let version = 1

  /// Reads a baseline.
  ///
  /// - Throws: An `InvalidInputError` if the file can't be read; `ScenarioDiagnostics` with the
  ///   line and column of an error.
  package static func read(at path: String) throws -> Baseline {
    try read(InputFile.read(path, limit: InputLimits.resultSize), path: path)
  }

  /// Changes a baseline, which is created if it doesn't exist.
  ///
  /// The file is read again and replaced atomically, and other processes that change it wait.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - change: A closure that changes the baseline.
  /// - Throws: The errors of `read(at:)`; an `NSError` of the file system.
  package static func update(_ url: URL, _ change: (inout Baseline) -> Void) throws {
    try OutputFile.updating(url) {
      let path = url.relativePath
      var baseline = try FileKind.exists(path, followingLinks: true) ? read(at: path) : Baseline()
      change(&baseline)
      try OutputFile.write(data(baseline), to: url, force: true)
    }
  }

  static func read(_ data: Data, path: String) throws -> Baseline {
    let source = try JSONSource(data, path: path, kind: .baseline)
    let head = try source.decode(Head.self)
    guard head.baseline == version else {
      throw source.problem(
        "version \(head.baseline) of a baseline isn't supported; this cdprof reads version "
          + "\(version)",
        at: [.key("baseline")],
        nextStep: "delete the file, and write it again with --update-baseline")
    }
    return try baseline(in: source.decode(Document.self), of: source)
  }

  private static func baseline(in document: Document, of source: JSONSource) throws -> Baseline {
    var baseline = Baseline()
    (baseline.cdprof, baseline.sqlite) = (document.cdprof, document.sqlite)
    func problem(_ message: String, _ list: String, _ index: Int) -> ScenarioDiagnostics {
      source.problem(message, at: [.key(list), .index(index)])
    }
    for (index, run) in document.runs.enumerated() {
      let old = baseline.runs.updateValue(
        Baseline.Run(file: run.file, seed: run.seed, data: run.data), forKey: run.key)
      guard old == nil else { throw problem("the scenario is listed twice", "runs", index) }
    }
    for (index, count) in document.counts.enumerated() {
      guard let metric = ScopedMetric(word: count.metric), metric.metric.isExact else {
        throw source.problem(
          "unknown metric `\(count.metric)`",
          at: [.key("counts"), .index(index), .key("metric")])
      }
      guard baseline.runs[count.key] != nil else {
        throw problem("the scenario isn't in `runs` at this scale", "counts", index)
      }
      let old = baseline.runs[count.key]?.variants[count.variant, default: Baseline.Variant()]
        .counts.updateValue(count.count, forKey: metric)
      guard old == nil else { throw problem("the count is listed twice", "counts", index) }
    }
    for (index, time) in document.times.enumerated() {
      guard baseline.runs[time.key]?.variants[time.variant] != nil else {
        throw problem("the variant isn't in `counts` at this scale", "times", index)
      }
      baseline.runs[time.key]?.variants[time.variant]?.times[time.machine] = TimeSpread(
        median: time.median, least: time.least, most: time.most, count: time.runs)
    }
    return baseline
  }

  /// Returns a baseline as JSON.
  ///
  /// Entries are sorted by scenario, engine, scale, variant, and metric, so that the file changes
  /// only where a count does.
  package static func data(_ baseline: Baseline) -> Data {
    let runs = baseline.runs.sorted { $0.key < $1.key }
    let variants = runs.flatMap { key, run in
      run.variants.sorted { $0.key < $1.key }.map { (key: key, name: $0, variant: $1) }
    }
    let lists: [(name: String, lines: [String])] = [
      ("runs", runs.map(line)),
      (
        "counts",
        variants.flatMap { key, name, variant in
          variant.counts.map { ($0.description, $1) }.sorted { $0.0 < $1.0 }.map { metric, count in
            var fields = self.fields(key, name)
            fields.add("metric", metric)
            fields.add("count", count)
            return fields.object
          }
        }
      ),
      (
        "times",
        variants.flatMap { key, name, variant in
          variant.times.sorted { $0.key < $1.key }.map { machine, time in
            var fields = self.fields(key, name)
            fields.add("machine", machine)
            fields.add("median", time.median)
            fields.add("least", time.least)
            fields.add("most", time.most)
            fields.add("runs", time.count)
            return fields.object
          }
        }
      ),
    ]
    let text = lists.map { list in
      list.lines.isEmpty
        ? "\"\(list.name)\":[]" : "\"\(list.name)\":[\n\(list.lines.joined(separator: ",\n"))\n]"
    }.joined(separator: ",\n")
    let head =
      "\"baseline\":\(version),\n\"cdprof\":\(JSONText.quoted(baseline.cdprof)),\n"
      + "\"sqlite\":\(JSONText.quoted(baseline.sqlite))"
    return Data("{\n\(head),\n\(text)\n}\n".utf8)
  }

  private static func line(_ key: Baseline.Key, _ run: Baseline.Run) -> String {
    var fields = JSONFields()
    fields.add("scenario", key.scenario)
    fields.add("engine", key.engine)
    fields.add("file", run.file)
    fields.add("scale", key.scale)
    fields.add("seed", run.seed)
    fields.add(
      "data",
      run.data.map { entity in
        var fields = JSONFields()
        fields.add("name", entity.name)
        fields.add("count", entity.count)
        return fields
      })
    return fields.object
  }

  private static func fields(_ key: Baseline.Key, _ variant: String) -> JSONFields {
    var fields = JSONFields()
    fields.add("scenario", key.scenario)
    fields.add("engine", key.engine)
    fields.add("scale", key.scale)
    fields.add("variant", variant)
    return fields
  }

  private struct Head: Decodable {
    var baseline: Int
  }

  private struct Document: Decodable {
    var cdprof: String
    var sqlite: String
    var runs: [Run]
    var counts: [Count]
    var times: [Time]
  }

  private struct Run: Decodable {
    var scenario: String
    var engine: String?
    var file: String?
    var scale: Int
    var seed: UInt64
    var data: [EntityCount]
    var key: Baseline.Key { Baseline.Key(scenario: scenario, engine: engine, scale: scale) }
  }

  private struct Count: Decodable {
    var scenario: String
    var engine: String?
    var scale: Int
    var variant: String
    var metric: String
    var count: Int
    var key: Baseline.Key { Baseline.Key(scenario: scenario, engine: engine, scale: scale) }
  }

  private struct Time: Decodable {
    var scenario: String
    var engine: String?
    var scale: Int
    var variant: String
    var machine: String
    var median: UInt64
    var least: UInt64
    var most: UInt64
    var runs: Int
    var key: Baseline.Key { Baseline.Key(scenario: scenario, engine: engine, scale: scale) }
  }
}

extension JSONSource.Kind {
  fileprivate static let baseline = JSONSource.Kind(
    noun: "baseline", key: "baseline",
    repair: "resolve conflicts in the file, or delete it and write it with --update-baseline",
    correction: "correct the line, or delete the file and write it with --update-baseline")
}
