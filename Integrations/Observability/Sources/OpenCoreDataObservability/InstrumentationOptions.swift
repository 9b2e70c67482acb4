public import CoreMetrics
public import Logging
public import Tracing

/// What is converted to spans, metrics, and lines of a log.
public struct InstrumentationOptions: Sendable {
  /// The operations that have a span.
  public enum SpanDetail: Sendable {
    /// None.
    case none
    /// Fetches, saves, faults, and others that no other operation caused, without what's in them.
    case operations
    /// Those, and the prefetches, transactions, and statements in them.
    case statements
  }

  /// The operations that have a span.
  public var spans = SpanDetail.statements
  /// The tracer; `nil` for that of the current task or the bootstrapped one.
  public var tracer: (any Tracer)?
  /// The metrics; `nil` for the bootstrapped ones.
  public var metrics: (any MetricsFactory)?
  /// The value of `db.system.name`: `sqlite` unless the stores are a program's own.
  public var system = "sqlite"
  /// The value of `db.namespace`, such as the name of the store; by default, there's none, because
  /// paths can be private.
  public var namespace: String?
  /// Whether spans and the lines of slow operations have `db.query.text`, which contains `?`, or
  /// what a program's own store writes, for each bound value.
  public var includesQueryText = true
  /// The level of the lines of operations that are neither slow nor fail; `nil` for no such lines.
  public var logLevel: Logger.Level? = .debug
  /// The duration from which an operation is slow.
  public var slowDuration = Duration.milliseconds(100)
  /// The level of the lines of slow operations.
  public var slowLogLevel = Logger.Level.warning
  /// The level of the lines of operations that failed.
  public var failureLogLevel = Logger.Level.error

  /// Creates the default options.
  public init() {}
}
