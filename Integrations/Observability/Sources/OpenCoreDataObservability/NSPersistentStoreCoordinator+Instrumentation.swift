public import CoreDataCosts
public import Logging
public import OpenCoreData

extension NSPersistentStoreCoordinator {
  /// Converts what all contexts of the coordinator do to spans, metrics, and lines of a log, from
  /// now on.
  ///
  /// A span's parent is that of `ServiceContext.current` where `performAndWait` or an awaited
  /// `perform` is called. Work that isn't awaited, of `perform(_:)` without `await` and of
  /// asynchronous fetches, has no parent, and neither has that of `performAndWait` on the main queue
  /// from another thread.
  ///
  /// **Cost:** a few microseconds for each fetch, save, statement, and fault, and what the tracer,
  /// metrics, and log handler take; a fault that has its row increments a counter.
  ///
  /// - Parameters:
  ///   - logger: Receives a line for each operation; its handler adds the IDs of the current span.
  ///   - options: What to convert, and how.
  /// - Returns: The observation, which ends when it's canceled or released.
  public func instrument(
    logger: Logger = Logger(label: "coredata"), options: InstrumentationOptions = .init()
  ) -> CoreDataObservation {
    let spans = SpanRecorder(options)
    let metrics = MetricRecorder(options)
    let lines = LogRecorder(logger, options)
    return observeOperations { operation in
      metrics.record(operation)
      // A fault that was fulfilled without the store is only counted.
      guard operation.isReported else { return }
      spans.record(operation)
      lines.record(operation)
    }
  }
}

extension NSPersistentContainer {
  /// Converts what all contexts of the container do to spans, metrics, and lines of a log, as
  /// `instrument(logger:options:)` of its coordinator does.
  ///
  /// - Parameters:
  ///   - logger: Receives a line for each operation.
  ///   - options: What to convert, and how.
  /// - Returns: The observation, which ends when it's canceled or released.
  public func instrument(
    logger: Logger = Logger(label: "coredata"), options: InstrumentationOptions = .init()
  ) -> CoreDataObservation {
    persistentStoreCoordinator.instrument(logger: logger, options: options)
  }
}
