import CoreDataCosts
import CoreMetrics
import Synchronization

/// Converts operations to metrics.
final class MetricRecorder: Sendable {
  private struct Key: Hashable {
    let name: MetricName
    let values: [String]
  }

  private struct Metrics {
    var counters: [Key: Counter] = [:]
    var timers: [Key: Timer] = [:]
    var recorders: [Key: Recorder] = [:]
  }

  private let options: InstrumentationOptions
  private let factory: any MetricsFactory
  private let metrics = Mutex(Metrics())

  init(_ options: InstrumentationOptions) {
    self.options = options
    factory = options.metrics ?? MetricsSystem.factory
  }

  /// Records an operation that no other one caused.
  func record(_ operation: CoreDataOperation) {
    let costs = operation.costs
    if costs.faults > 0 {
      count(.faults, costs.hits, ["row_cache"])
      count(.faults, costs.misses, ["store"])
      count(.faults, costs.faults - costs.hits - costs.misses, ["parent"])
      if !operation.isReported { return }
    }
    count(.fetches, costs.fetches)
    count(.saves, costs.saves)
    count(.statements, costs.selects, ["SELECT"])
    count(.statements, costs.inserts, ["INSERT"])
    count(.statements, costs.updates, ["UPDATE"])
    count(.statements, costs.deletes, ["DELETE"])
    count(.transactions, costs.transactions)
    count(.rows, costs.rows)
    count(.prefetches, costs.prefetches)
    let values = [operation.kind.word, operation.entity ?? "", operation.failure?.type ?? ""]
    if operation.failure != nil { count(.failures, 1, values) }
    if operation.sql == nil { time(.operationDuration, operation.duration, values) }
    recordStatements(of: operation)
  }

  private func recordStatements(of operation: CoreDataOperation) {
    if operation.sql != nil {
      var values = [options.system, operation.queryOperation ?? "", operation.entity ?? ""]
      if operation.costs.selects > 0, operation.failure == nil {
        record(.returnedRows, operation.rows, values)
      }
      values.append(operation.statusType ?? "")
      time(.statementDuration, operation.duration, values)
    }
    for inner in operation.operations { recordStatements(of: inner) }
  }

  private func count(_ name: MetricName, _ number: Int, _ values: [String] = []) {
    guard number > 0 else { return }
    metric(name, values, \.counters) { Counter(label: $0, dimensions: $1, factory: factory) }
      .increment(by: number)
  }

  private func time(_ name: MetricName, _ nanoseconds: UInt64, _ values: [String]) {
    metric(name, values, \.timers) {
      Timer(label: $0, dimensions: $1, preferredDisplayUnit: .seconds, factory: factory)
    }
    .recordNanoseconds(Int64(clamping: nanoseconds))
  }

  private func record(_ name: MetricName, _ number: Int, _ values: [String]) {
    metric(name, values, \.recorders) { Recorder(label: $0, dimensions: $1, factory: factory) }
      .record(Int64(number))
  }

  /// Returns the metric with a name and values of its dimensions, created once.
  ///
  /// - Parameter values: In the order of the dimensions; an empty one is left out.
  private func metric<Metric: Sendable>(
    _ name: MetricName, _ values: [String],
    _ path: WritableKeyPath<Metrics, [Key: Metric]>,
    _ make: (String, [(String, String)]) -> Metric
  ) -> Metric {
    let key = Key(name: name, values: values)
    return metrics.withLock { metrics in
      if let known = metrics[keyPath: path][key] { return known }
      let dimensions = zip(name.dimensions, values).filter { !$1.isEmpty }
        .map { ($0.rawValue, $1) }
      let metric = make(name.rawValue, dimensions)
      metrics[keyPath: path][key] = metric
      return metric
    }
  }
}
