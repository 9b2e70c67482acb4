import CoreDataCosts
import Logging

/// Converts operations to lines of a log: one for each that no other one caused.
struct LogRecorder: Sendable {
  private let logger: Logger
  private let options: InstrumentationOptions

  init(_ logger: Logger, _ options: InstrumentationOptions) {
    self.logger = logger
    self.options = options
  }

  /// Writes the line of an operation, on its thread.
  func record(_ operation: CoreDataOperation) {
    let isSlow = .nanoseconds(Int64(clamping: operation.duration)) >= options.slowDuration
    if operation.failure != nil {
      write(operation, "failed \(operation.name)", options.failureLogLevel, isSlow: isSlow)
    } else if isSlow {
      write(operation, "slow \(operation.name)", options.slowLogLevel, isSlow: true)
    } else if let level = options.logLevel {
      write(operation, operation.name, level, isSlow: false)
    }
  }

  private func write(
    _ operation: CoreDataOperation, _ message: @autoclosure () -> String, _ level: Logger.Level,
    isSlow: Bool
  ) {
    guard logger.logLevel <= level else { return }
    var metadata: Logger.Metadata = [:]
    func set(_ name: AttributeName, _ value: String?) {
      if let value { metadata[name.rawValue] = .string(value) }
    }
    set(.operation, operation.kind.word)
    set(.entity, operation.entity)
    set(.relationship, operation.relationship)
    set(.context, operation.context)
    set(.source, operation.source?.word)
    set(.count, "\(operation.rows)")
    set(.duration, "\(Double(operation.duration) / 1e9)")
    set(.statements, "\(operation.costs.statements)")
    set(.rows, "\(operation.costs.rows)")
    set(.misses, "\(operation.costs.misses)")
    set(.errorType, operation.failure?.type)
    if isSlow, let statement = operation.slowestStatement {
      set(.querySummary, statement.name)
      if options.includesQueryText { set(.queryText, statement.sql) }
    }
    logger.log(level: level, "\(message())", metadata: metadata)
  }
}

extension CoreDataOperation {
  /// The statement in it, or itself, that took longest.
  fileprivate var slowestStatement: CoreDataOperation? {
    if sql != nil { return self }
    return operations.compactMap(\.slowestStatement).max { $0.duration < $1.duration }
  }
}
