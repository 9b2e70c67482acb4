import Foundation
import OpenCoreData
import ProfileEvents
import RunResults
import ScenarioLanguage
import WorkbenchText

/// Runs one variant, cold, on a copy of the data, and collects its result.
struct VariantRun {
  let variant: Variant
  /// The variant's steps, in order and with resolved numbers.
  let steps: [Step]
  /// The model of the data.
  let dataModel: NSManagedObjectModel
  /// The configuration of the model that the data has; `nil` for all entities.
  let configuration: String?
  /// The model that expectations refer to: that of the data, or a later version.
  let model: NSManagedObjectModel
  /// The versions that a step can migrate the store to, or `nil` if there are none.
  let versions: VersionedModel?
  let scope: CountExpressionScope
  /// The path of the scenario file, as specified by the user, for the locations of expectations.
  let path: String
  /// The findings that the scenario suppresses.
  var silence: [FindingSuppression] = []
  /// The metrics that the scenario names anywhere; each variant has their values.
  var named: Set<ScopedMetric> = []
  /// Whether to record what the variant reads and leaves in the store.
  var recordsWork = false
  /// The engine of the store.
  var engine: any StoreEngine = SQLiteEngine()

  private var pages: Set<Metric> {
    Set(
      named.filter {
        $0.scope == .all && $0.metric.isOfPages && engine.obstacle(to: $0.metric) == nil
      }.map(\.metric))
  }

  /// Runs the variant and returns its result.
  ///
  /// - Parameters:
  ///   - storeURL: The copy of the data, which the variant can change.
  ///   - data: The data that it was copied from.
  ///   - sink: An event sink in addition to the recorder.
  /// - Throws: A `StepFailure`, a `CountExpressionError`, or an `NSError` of the framework.
  func result(
    on storeURL: URL, copiedFrom data: URL, emittingTo sink: (any EventSink)? = nil
  ) throws -> VariantResult {
    var result = VariantResult(name: variant.name, why: variant.why)
    result.apple = variant.apple
    result.set = variant.set.map(\.text)
    result.first = variant.first.map(\.text)
    result.then = variant.then.map(\.text)
    result.requestSwift = requestSwift
    let values = recordsWork ? ReadValues() : nil
    let (work, outcomes, plans) = try record(on: storeURL, sink, values)
    let recording = work.recording
    result.take(recording)
    result.metrics = result.metrics.filter { engine.counts($0.key) }
    for metric in pages { result.metrics[metric] = recording.value(of: metric) }
    // The session is closed, so the store is complete and can be opened read-only.
    result.work = try values.map {
      try VariantWork(reads: $0.reads, passed: $0.passed, storeURL: storeURL)
    }
    result.statements = try engine.explained(
      result.statements, at: storeURL, copiedFrom: data)
    let found = FindingSearch.all(
      of: work, steps: outcomes.flatMap(\.findings), statements: result.statements,
      advisor: { try engine.advisor(at: storeURL, model: model) }, silence: silence)
    result.findings = found.findings
    result.silenced = found.silencedNames
    var rest = recording.groups[...]
    let begin = recording.begin
    result.steps = outcomes.map { outcome in
      let recorded = outcome.recorded
      rest = rest.drop { $0.firstEvent <= recorded.after }
      let groups = rest.prefix { recorded.contains($0.firstEvent) }
      return StepResult(
        text: outcome.step.text, name: outcome.step.name, location: outcome.step.location,
        summary: outcome.summary, costs: outcome.costs,
        offset: outcome.recorded.begin - begin, fetch: outcome.step.fetch,
        groups: Array(groups))
    }
    result.scopedMetrics = scopedMetrics(of: recording)
    result.expectations = try expectations(
      recording, outcomes, plans, findings: result.findings)
    return result
  }

  private func record(
    on storeURL: URL, _ sink: (any EventSink)?, _ values: ReadValues?
  ) throws -> (FinishedWork, [StepOutcome], StepPlans) {
    let session = try Session(
      storeURL: storeURL, on: engine, model: dataModel, configuration: configuration,
      versions: versions, readOnly: false, sinks: sink.map { [$0] } ?? [])
    session.readValues = values
    var plans = StepPlans()
    let outcomes = try steps.map { step in
      let outcome = try session.run(step)
      if wantsPlans(of: step) {
        try plans.add(outcome, of: session.recording(of: outcome.recorded), at: storeURL)
      }
      return outcome
    }
    var work = session.work(of: outcomes.map(\.step))
    work.model = model
    if let values { session.namedResults.forEach { values.add($0.value, named: $0.key) } }
    if !pages.isDisjoint(with: [.filepages, .walpages, .freepages]) {
      let gauges = work.recording.gauges.merging(try session.pages()) { $1 }
      work.recording = work.recording.with(gauges: gauges)
    }
    return (work, outcomes, plans)
  }

  private func wantsPlans(of step: Step) -> Bool {
    engine.obstacleToPlans == nil
      && (step.expect?.plans.isEmpty == false
        || variant.expect.plans.contains { $0.step == nil || $0.step == step.name })
  }

  private var requestSwift: [String] {
    var lines: [String] = []
    for step in steps where !step.requestSwift.isEmpty {
      if !lines.isEmpty { lines.append("") }
      lines += step.requestSwift
    }
    return lines
  }

  /// Returns the values of the scoped metrics that the scenario names, and the peaks of the fetched
  /// entities.
  ///
  /// A step or a context that the variant doesn't have isn't included.
  private func scopedMetrics(of recording: Recording) -> [ScopedMetric: Int] {
    var wanted = named.filter { scoped in
      switch scoped.scope {
      case .all: false
      case .entity, .relationship: true
      case .context(let name):
        name == ContextShape.main || steps.contains { $0.verb == .context && $0.subject == name }
      case .step(let name): steps.contains { $0.name == name }
      }
    }
    for step in steps where step.verb == .fetch {
      guard let entity = model.entitiesByName[step.subject] else { continue }
      wanted.formUnion(entity.concreteEntityNames.map { ScopedMetric(.peak, .entity($0)) })
    }
    return Dictionary(
      uniqueKeysWithValues: wanted.filter { engine.counts($0.metric) }
        .map { ($0, recording.value(of: $0)) })
  }

  private func expectations(
    _ recording: Recording, _ outcomes: [StepOutcome], _ plans: StepPlans, findings: [Finding]
  ) throws -> [ExpectationResult] {
    let evaluator = ExpectationEvaluator(scope: scope, path: path, engine: engine)
    var results = try variant.expect.expectations.map { expectation in
      try evaluator.result(of: expectation, in: recording, firing: findings)
    }
    let entities = Array(model.entitiesByName.keys)
    results += variant.expect.plans.map { expectation in
      evaluator.result(
        of: expectation, in: plans.statements(of: expectation.step), entities: entities)
    }
    if let result = evaluator.result(of: variant.expect, firing: findings) {
      results.append(result)
    }
    for outcome in outcomes {
      let fired = FindingSearch.grouped(outcome.findings, silence: silence).findings
      let slice = recording.slice(of: outcome.recorded).with(gauges: outcome.gauges)
      for expectation in outcome.step.expect?.expectations ?? [] {
        results.append(
          try evaluator.result(of: expectation, in: slice, firing: fired))
      }
      results += (outcome.step.expect?.plans ?? []).map { expectation in
        evaluator.result(
          of: expectation, in: plans.statements(of: outcome.recorded), entities: entities)
      }
      if let block = outcome.step.expect, block.findings != nil,
        let result = evaluator.result(of: block, firing: fired)
      {
        results.append(result)
      }
      if let result = evaluator.result(ofFailing: outcome) { results.append(result) }
    }
    return results
  }
}
