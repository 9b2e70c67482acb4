package import Foundation
import ProfileEvents
package import RunResults
import ScenarioLanguage
import WorkbenchText

/// The counts of earlier runs, oldest first, as JSON Lines: a line for each variant of a run.
package struct RunHistory: Sendable {
  /// A run of one or more scenarios.
  package struct Run: Sendable, Equatable {
    /// The commit that ran; `nil` if it wasn't given.
    package var commit: String?
    /// The time of the run in UTC, such as `2026-11-27T23:01:40Z`.
    package var date: String

    package init(commit: String?, date: Date) {
      self.commit = commit
      self.date = date.formatted(.iso8601)
    }

    fileprivate init(commit: String?, date: String) {
      self.commit = commit
      self.date = date
    }
  }

  /// A count that the history follows.
  struct Key: Hashable, Sendable {
    var scenario: String
    var variant: String
    /// The name of the engine; `nil` for SQLite.
    var engine: String?
    var scale: Int
    var metric: ScopedMetric
  }

  private(set) var runs: [Run] = []
  /// The counts by the index of the run.
  private(set) var counts: [Key: [Int: Int]] = [:]

  /// Reads a history.
  ///
  /// - Parameter path: The path, or `-` for standard input.
  /// - Throws: An `InvalidInputError` if the file can't be read or is empty; `ScenarioDiagnostics`
  ///   with the line and column of an error.
  package init(readingAt path: String) throws {
    try self.init(InputFile.read(path, limit: InputLimits.resultSize), path: path)
    guard !runs.isEmpty else {
      throw InvalidInputError(
        kind: .unusable, message: "\(InputFile.name(path)) is empty",
        nextStep: "add a run to it with `cdprof run --history`")
    }
  }

  /// Checks that results can be added to a file.
  ///
  /// - Throws: The errors of reading a file that exists and isn't empty.
  package static func check(_ url: URL) throws {
    try OutputFile.check(url, force: true)
    _ = try RunHistory(existing(url), path: url.relativePath)
  }

  /// Returns the content of a file; none if it doesn't exist.
  private static func existing(_ url: URL) throws -> Data {
    let path = url.relativePath
    return FileKind.exists(path, followingLinks: true)
      ? try InputFile.read(path, limit: InputLimits.resultSize) : Data()
  }

  init(_ data: Data, path: String) throws {
    var numbers: [String: Int] = [:]
    for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated() where !line.allSatisfy({ " \t\r".utf8.contains($0) })
    {
      let source = try JSONSource(
        Data(line), path: path, kind: .history, firstLine: index + 1)
      add(try source.decode(Line.self), &numbers)
    }
  }

  /// Adds the counts of a line.
  ///
  /// A commit that ran again has its latest counts.
  private mutating func add(_ line: Line, _ numbers: inout [String: Int]) {
    let run = Run(commit: line.commit, date: line.date)
    let number: Int
    if let known = numbers[line.commit ?? line.date] {
      number = known
      runs[number] = run
    } else {
      number = runs.count
      numbers[line.commit ?? line.date] = number
      runs.append(run)
    }
    let plain = line.counts.plain.map { (ScopedMetric($0), $1) }
    for (metric, count) in plain + line.counts.scoped.map({ ($0, $1) }) {
      let key = Key(
        scenario: line.scenario, variant: line.variant, engine: line.engine, scale: line.scale,
        metric: metric)
      counts[key, default: [:]][number] = count
    }
  }

  /// Adds lines to the end of a history, which is created if it doesn't exist.
  ///
  /// The file is replaced atomically, and other processes that add lines wait.
  ///
  /// - Parameters:
  ///   - lines: The lines of a run's results.
  ///   - url: The file.
  /// - Throws: An `InvalidInputError` if the file can't be read or would be too long; an `NSError`
  ///   of the file system.
  package static func append(_ lines: [String], to url: URL) throws {
    try OutputFile.updating(url) {
      var data = try existing(url)
      // A file that was edited may lack the last line feed.
      if let last = data.last, last != UInt8(ascii: "\n") { data.append(UInt8(ascii: "\n")) }
      for line in lines { data += Data((line + "\n").utf8) }
      guard data.count <= InputLimits.resultSize else {
        throw InvalidInputError.tooLong(url.relativePath, limit: InputLimits.resultSize)
      }
      try OutputFile.write(data, to: url, force: true)
    }
  }

  /// Returns a line for each variant of a result, at each scale.
  package static func lines(of result: RunResult, in run: Run) -> [String] {
    ([ScaledRun(result)] + result.scales).flatMap { scaled in
      scaled.variants.map { variant in
        var fields = JSONFields()
        fields.add("commit", run.commit)
        fields.add("date", run.date)
        fields.add("scenario", result.scenario)
        fields.add("engine", result.engine?.name)
        fields.add("scale", scaled.scale)
        fields.add("variant", variant.name)
        fields.add(
          "counts",
          numbers: Dictionary(
            uniqueKeysWithValues: Baseline.counts(of: variant).map { ($0.description, $1) }))
        return fields.object
      }
    }
  }

  private struct Line: Decodable {
    var commit: String?
    var date: String
    var scenario: String
    var engine: String?
    var scale: Int
    var variant: String
    var counts: JSONMetrics
  }
}

extension JSONSource.Kind {
  fileprivate static let history = JSONSource.Kind(
    noun: "line of a history", key: "date",
    repair: "correct or delete the line; `cdprof run --history` writes one for each variant",
    correction: "correct or delete the line; `cdprof run --history` writes one for each variant")
}
