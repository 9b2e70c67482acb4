import ProfileEvents
package import RunResults
import ScenarioLanguage
import WorkbenchText

/// The accepted counts of scenarios, which later runs are compared with.
///
/// Scenarios and variants are identified by their names, and by the engine of the run. Times are
/// stored by machine, and only those of several iterations in a release build, while no other
/// scenario ran: a time of a single run would change with each update.
package struct Baseline: Sendable, Equatable {
  /// The name of a scenario, and the engine and the scale of its run.
  struct Key: Hashable, Comparable, Sendable {
    var scenario: String
    /// The name of the engine; `nil` for SQLite.
    var engine: String?
    var scale: Int

    static func < (one: Key, other: Key) -> Bool {
      (one.scenario, one.engine ?? "", one.scale)
        < (other.scenario, other.engine ?? "", other.scale)
    }
  }

  /// A scenario at one scale.
  struct Run: Sendable, Equatable {
    /// The path of the scenario, relative to the folder of the baseline; `nil` if it isn't known.
    var file: String?
    var seed: UInt64
    var data: [EntityCount]
    var variants: [String: Variant] = [:]
  }

  /// The accepted counts of a variant, and its times by machine.
  struct Variant: Sendable, Equatable {
    var counts: [ScopedMetric: Int] = [:]
    var times: [String: TimeSpread] = [:]
  }

  /// The counts and times of a result, which replace those of a baseline.
  package struct Change: Sendable {
    fileprivate let scenario: String
    fileprivate let versions: (cdprof: String, sqlite: String)
    /// The runs at the scales of the result, with its variants only.
    fileprivate let runs: [(key: Key, run: Run)]
    fileprivate let file: String?
    fileprivate let isPartial: Bool

    /// Creates a change from a result.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - file: The path of the scenario, relative to the folder of the baseline, or `nil` to keep
    ///     it.
    ///   - isPartial: Whether the result contains only some variants, so that others are kept.
    package init(_ result: RunResult, at file: String? = nil, isPartial: Bool = false) {
      scenario = result.scenario
      versions = (result.environment.cdprof, result.environment.sqlite)
      runs = ([ScaledRun(result)] + result.scales).map { scaled -> (key: Key, run: Run) in
        var run = Run(seed: result.seed, data: scaled.data)
        for variant in scaled.variants {
          run.variants[variant.name] = Variant(
            counts: Baseline.counts(of: variant), times: Baseline.times(of: variant, in: result))
        }
        return (Key(result, scale: scaled.scale), run)
      }
      self.file = file
      self.isPartial = isPartial
    }
  }

  /// The versions that wrote the counts.
  var cdprof: String
  var sqlite: String
  var runs: [Key: Run] = [:]

  /// Creates a baseline without counts.
  package init() {
    let environment = RunEnvironment.current
    (cdprof, sqlite) = (environment.cdprof, environment.sqlite)
  }

  /// Replaces the counts of a scenario at the scales of a result, and its times on that machine.
  package mutating func apply(_ change: Change) {
    (cdprof, sqlite) = change.versions
    for (key, new) in change.runs {
      let old = runs[key]?.variants ?? [:]
      var run = new
      run.variants = change.isPartial ? old : [:]
      for (name, variant) in new.variants {
        run.variants[name] = Variant(
          counts: variant.counts,
          times: (old[name]?.times ?? [:]).merging(variant.times) { $1 })
      }
      run.file = runs[key]?.file
      runs[key] = run
    }
    guard let file = change.file else { return }
    for key in runs.keys where key.scenario == change.scenario { runs[key]?.file = file }
  }

  /// Returns the exact counts of a variant.
  static func counts(of variant: ScaledRun.Variant) -> [ScopedMetric: Int] {
    let plain = variant.metrics.filter(\.key.isExact).map { (ScopedMetric($0), $1) }
    let scoped = variant.scopedMetrics.filter(\.key.metric.isExact).map { ($0, $1) }
    return Dictionary(uniqueKeysWithValues: plain + scoped)
  }

  private static func times(
    of variant: ScaledRun.Variant, in result: RunResult
  ) -> [String: TimeSpread] {
    guard result.environment.build == "release", !result.environment.isConcurrent,
      variant.repeats.count >= TimeSpread.enough, let spread = TimeSpread(variant.repeats)
    else { return [:] }
    return [machine(of: result): spread]
  }

  /// Returns what times depend on: the machine, and the conditions of the engine.
  static func machine(of result: RunResult) -> String {
    [result.environment.machine, result.engine?.conditions].compactMap(\.self)
      .joined(separator: ", ")
  }

  /// Returns the accepted counts of a scenario in the form of a result, at the scales of a result.
  ///
  /// Versions are those of the baseline; findings and times are the same as in the result, because
  /// the baseline doesn't limit them.
  ///
  /// - Returns: `nil` if the baseline has none of the scales.
  func accepted(for result: RunResult) -> RunResult? {
    let scales = [result.scale] + result.scales.map(\.scale)
    let known = scales.compactMap { scale in
      runs[Key(result, scale: scale)].map { scaled($0, scale, in: result) }
    }
    guard let first = known.first else { return nil }
    var accepted = result
    (accepted.environment.cdprof, accepted.environment.sqlite) = (cdprof, sqlite)
    accepted.seed =
      runs[Key(result, scale: first.scale)]?.seed ?? result.seed
    accepted.scale = first.scale
    accepted.data = first.data
    accepted.variants = first.variants.map { variant in
      var full = VariantResult(name: variant.name)
      full.metrics = variant.metrics
      full.scopedMetrics = variant.scopedMetrics
      full.findings = result.variants.first { $0.name == variant.name }?.findings ?? []
      return full
    }
    accepted.scales = Array(known.dropFirst())
    return accepted
  }

  /// Returns a run with its variants in the order of a result, those of the past last.
  private func scaled(_ run: Run, _ scale: Int, in result: RunResult) -> ScaledRun {
    let current = result.variants.map(\.name)
    let names =
      current.filter { run.variants[$0] != nil }
      + run.variants.keys.filter { !current.contains($0) }.sorted()
    let variants = names.map { name in
      let counts = run.variants[name]?.counts ?? [:]
      let plain = counts.filter { $0.key.scope == .all }.map { ($0.key.metric, $0.value) }
      return ScaledRun.Variant(
        name: name, metrics: Dictionary(uniqueKeysWithValues: plain),
        scopedMetrics: counts.filter { $0.key.scope != .all }, nanoseconds: 0)
    }
    return ScaledRun(scale: scale, data: run.data, variants: variants)
  }
}

extension Baseline.Key {
  /// The key of a result at a scale.
  init(_ result: RunResult, scale: Int) {
    self.init(scenario: result.scenario, engine: result.engine?.name, scale: scale)
  }
}
