package import LogAnalysis
package import ProfileEvents
package import RunResults
package import ScenarioLanguage
package import WorkbenchText

/// A comparison of two results by variant, or of two logs by section and statement.
package struct RunComparison: Sendable {
  /// The name of the scenario, or both names if they differ; for logs, both files.
  package let title: String
  /// The variants in both results, in the order of the first, by scale.
  package let variants: [ComparedVariant]
  /// The variants that are only in the first result.
  package let missing: [String]
  /// The variants that are only in the second result.
  package let added: [String]
  /// Other differences that may explain the changes: data, seed, versions.
  package let notes: [String]
  /// The statements of two logs; empty for results.
  package let statements: [ComparedStatement]

  /// Compares two results.
  package init(_ before: RunResult, _ after: RunResult) {
    title =
      before.scenario == after.scenario
      ? before.scenario : "\(before.scenario) and \(after.scenario)"
    let environments = RunComparison.differences(before.environment, after.environment)
    notes = RunComparison.notes(before, after) + environments
    let reasonInconclusive = RunComparison.reasonInconclusive(before, after)
    statements = []
    let one = RunComparison.entries(of: before)
    let other = RunComparison.entries(of: after)
    (variants, missing, added) = RunComparison.matched(
      one, other, reasonInconclusive: reasonInconclusive)
  }

  /// Compares two logs: each as a whole, sections with the same name, and statements.
  package init(_ before: LogReport, _ after: LogReport) {
    title = "\(before.file) and \(after.file)"
    notes = LogEntries.notes(before, after)
    statements = ComparedStatement.all(before, after)
    let entries = LogEntries(before, after)
    (variants, missing, added) = RunComparison.matched(
      entries.before, entries.after, reasonInconclusive: "a log contains only one run")
  }

  private static func matched(
    _ one: [Entry], _ other: [Entry], reasonInconclusive: String?
  ) -> (variants: [ComparedVariant], missing: [String], added: [String]) {
    let matches = Dictionary(
      other.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let names = Set(one.map(\.name))
    let variants = one.compactMap { entry -> ComparedVariant? in
      guard let match = matches[entry.name] else { return nil }
      let findings: (before: [String], after: [String])
      if let one = entry.findings, let other = match.findings {
        findings = (one, other)
      } else {
        findings = ([], [])
      }
      return ComparedVariant(
        name: entry.name, entry.variant, match.variant, findings: findings,
        reasonInconclusive: reasonInconclusive)
    }
    return (
      variants, one.map(\.name).filter { matches[$0] == nil },
      other.map(\.name).filter { !names.contains($0) }
    )
  }

  /// A variant or section: the name by which it's matched, its numbers, and its findings, which are
  /// `nil` if they aren't known.
  typealias Entry = (name: String, variant: ScaledRun.Variant, findings: [String]?)

  /// Returns an entry for each variant at each scale; a result has the findings of its first scale.
  private static func entries(of result: RunResult) -> [Entry] {
    let here = zip(ScaledRun(result).variants, result.variants).map { numbers, variant -> Entry in
      (
        name: VariantLabel.text(variant.name, scale: result.scale), variant: numbers,
        findings: variant.findings.map(\.name).reduce(into: [String]()) { names, name in
          if !names.contains(name) { names.append(name) }
        }
      )
    }
    return here
      + result.scales.flatMap { run in
        run.variants.map { (VariantLabel.text($0.name, scale: run.scale), $0, nil) }
      }
  }

  private static func notes(_ before: RunResult, _ after: RunResult) -> [String] {
    var notes: [String] = []
    if before.seed != after.seed { notes.append("seed \(before.seed) and \(after.seed)") }
    if let one = before.engine?.text ?? (after.engine == nil ? nil : "SQLite"),
      one != after.engine?.text
    {
      notes.append("engine: \(one) and \(after.engine?.text ?? "SQLite")")
    }
    let data = RunComparison.data(before, after)
    let added = data.after.filter { entity in
      !data.before.contains { $0.name == entity.name }
    }
    for entity in data.before + added.map({ EntityCount(name: $0.name, count: 0) }) {
      let other = data.after.first { $0.name == entity.name }?.count ?? 0
      guard other != entity.count else { continue }
      notes.append(
        "\(entity.name): \(NumberText.counted(entity.count, "row")) and \(NumberText.grouped(other))"
      )
    }
    return notes
  }

  /// Returns the rows of both results at the first scale that they share, or at the first of each.
  private static func data(
    _ before: RunResult, _ after: RunResult
  ) -> (before: [EntityCount], after: [EntityCount]) {
    let runs = [ScaledRun(after)] + after.scales
    for one in [ScaledRun(before)] + before.scales {
      if let other = runs.first(where: { $0.scale == one.scale }) { return (one.data, other.data) }
    }
    return (before.data, after.data)
  }

  private static func differences(_ one: RunEnvironment, _ other: RunEnvironment) -> [String] {
    [
      ("cdprof", one.cdprof, other.cdprof), ("SQLite", one.sqlite, other.sqlite),
      ("Swift", one.swift, other.swift), ("machine", one.machine, other.machine),
      ("build", one.build, other.build),
    ].filter { $0.1 != $0.2 }.map { "\($0.0): \($0.1) and \($0.2)" }
  }

  private static func reasonInconclusive(_ before: RunResult, _ after: RunResult) -> String? {
    let (one, other) = (before.environment, after.environment)
    if before.engine?.name != after.engine?.name
      || before.engine?.conditions != after.engine?.conditions
    {
      return "different engines"
    }
    if one.machine != other.machine { return "different machines" }
    if one.build != other.build { return "different kinds of build" }
    if one.build == "debug" { return "a debug build" }
    return one.isConcurrent || other.isConcurrent ? ComparedTime.concurrencyReason : nil
  }
}

/// A metric of a variant in two results.
package struct ComparedCount: Sendable, Equatable {
  package var metric: ScopedMetric
  package var before: Int
  package var after: Int

  package init(metric: ScopedMetric, before: Int, after: Int) {
    self.metric = metric
    self.before = before
    self.after = after
  }

  /// The change, such as `+ 60` or `- 5,059`; an empty string if there is none.
  package var difference: String {
    guard before != after else { return "" }
    return "\(after < before ? "-" : "+") \(NumberText.grouped(abs(after - before)))"
  }
}

extension Metric {
  /// Whether an increase of the metric is a regression.
  ///
  /// Hits and prefetches aren't costs: a hit replaces a miss, and a prefetch replaces faults.
  package var isCost: Bool {
    switch self {
    case .selects, .inserts, .updates, .deletes, .transactions, .rows, .misses, .peak,
      .roundtrips:
      true
    case .migrations, .dml, .migratedrows, .copiedtables, .instances: true
    default: false
    }
  }
}

/// The times of the same work in two results, and whether they differ conclusively.
package struct ComparedTime: Sendable, Equatable {
  /// The result of comparing two times.
  package enum Outcome: Sendable, Equatable {
    /// Every run was faster than every earlier one; the value is the ratio of the medians, which is
    /// infinite if the later one is 0.
    case faster(Double)
    /// Every run was slower than every earlier one; the value is the ratio of the medians, which is
    /// infinite if the earlier one is 0.
    case slower(Double)
    /// The times can't be compared or overlap; the value is the reason.
    case inconclusive(String)
  }

  /// The reason why the times of scenarios that ran at the same time as others can't be compared.
  static let concurrencyReason = "other scenarios ran concurrently; run with --repeat 5 --jobs 1"

  package let before: TimeSpread
  package let after: TimeSpread
  package let outcome: Outcome
  private let unit: Unit

  /// What a single time measures.
  package enum Unit: String, Sendable {
    case run
    /// An execution of a statement in a log.
    case call
  }

  /// Compares two sets of times.
  ///
  /// - Parameters:
  ///   - before: The earlier times.
  ///   - after: The later times.
  ///   - unit: What a single time measures.
  ///   - reasonInconclusive: The reason why the times can't be compared, such as different
  ///     machines.
  package init(
    _ before: TimeSpread, _ after: TimeSpread, of unit: Unit = .run,
    reasonInconclusive: String? = nil
  ) {
    self.before = before
    self.after = after
    self.unit = unit
    outcome = ComparedTime.outcome(before, after, unit, reasonInconclusive)
  }

  private static func outcome(
    _ before: TimeSpread, _ after: TimeSpread, _ unit: Unit, _ reasonInconclusive: String?
  ) -> Outcome {
    if let reasonInconclusive { return .inconclusive(reasonInconclusive) }
    guard min(before.count, after.count) >= TimeSpread.enough else {
      return .inconclusive(
        "fewer than \(TimeSpread.enough) \(unit.rawValue)s each"
          + (unit == .run ? "; run with --repeat 5" : ""))
    }
    let medians = (before: Double(before.median), after: Double(after.median))
    if after.least > before.most { return .slower(medians.after / medians.before) }
    if after.most < before.least { return .faster(medians.before / medians.after) }
    return .inconclusive("the \(unit.rawValue)s overlap")
  }

  /// `55 ms → 61 ms, inconclusive: the runs overlap`.
  package var text: String {
    let words =
      switch outcome {
      case .faster(let times): "\(ComparedTime.factor(times))faster"
      case .slower(let times): "\(ComparedTime.factor(times))slower"
      case .inconclusive(let reason): "inconclusive: \(reason)"
      }
    let noun = unit.rawValue
    return "\(before.text(of: noun)) → \(after.text(of: noun)), \(words)"
  }

  /// Returns `1.9 times `, or an empty string if one of the medians is 0.
  ///
  /// A log rounds a time of less than 50 µs to 0.
  private static func factor(_ number: Double) -> String {
    guard number.isFinite, let tenths = Int(exactly: (number * 10).rounded()) else { return "" }
    return "\(NumberText.grouped(tenths / 10)).\(tenths % 10) times "
  }
}

/// A variant in two results, or a section in two logs.
package struct ComparedVariant: Sendable {
  /// The name of the variant, with its scale if that isn't 1: `plain at scale 10`.
  package let name: String
  /// The metrics in both results, in the catalog's order; scoped metrics are last.
  package let counts: [ComparedCount]
  package let newFindings: [String]
  package let goneFindings: [String]
  package let time: ComparedTime

  /// The counts that differ.
  package var differences: [ComparedCount] { counts.filter { $0.before != $0.after } }

  init(
    name: String, _ before: ScaledRun.Variant, _ after: ScaledRun.Variant,
    findings: (before: [String], after: [String]), reasonInconclusive: String?
  ) {
    self.name = name
    let plain = Metric.allCases.compactMap { metric -> ComparedCount? in
      let values = (before: before.metrics[metric], after: after.metrics[metric])
      guard metric.isExact, values.before != nil || values.after != nil else { return nil }
      // A result without the counts of migrations is that of work that migrated no store.
      let omitted: Int? = metric.isOfMigration ? 0 : nil
      guard let one = values.before ?? omitted, let other = values.after ?? omitted else {
        return nil
      }
      return ComparedCount(metric: ScopedMetric(metric), before: one, after: other)
    }
    // A file doesn't say whether a scope is an entity, a step, or a context, so names are compared.
    let others = Dictionary(
      after.scopedMetrics.map { ($0.key.description, $0) }, uniquingKeysWith: { one, _ in one })
    let scoped = before.scopedMetrics.map { ($0.key.description, $0.value) }
      .sorted { $0.0 < $1.0 }
      .compactMap { name, one -> ComparedCount? in
        guard let (metric, other) = others[name], metric.metric.isExact else { return nil }
        return ComparedCount(metric: metric, before: one, after: other)
      }
    counts = plain + scoped
    newFindings = findings.after.filter { !findings.before.contains($0) }
    goneFindings = findings.before.filter { !findings.after.contains($0) }
    time = ComparedTime(
      TimeSpread(before.repeats) ?? TimeSpread(once: before.nanoseconds),
      TimeSpread(after.repeats) ?? TimeSpread(once: after.nanoseconds),
      reasonInconclusive: reasonInconclusive)
  }
}
