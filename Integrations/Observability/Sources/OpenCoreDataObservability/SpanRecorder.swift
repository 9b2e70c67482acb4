import CoreDataCosts
import Tracing

/// Converts operations to spans.
///
/// Statements are client spans with the attributes of the conventions for databases; the
/// framework's operations are internal spans around them.
struct SpanRecorder: Sendable {
  private let options: InstrumentationOptions

  init(_ options: InstrumentationOptions) {
    self.options = options
  }

  /// Records the spans of an operation that has ended, on its thread.
  func record(_ operation: CoreDataOperation) {
    guard options.spans != .none else { return }
    let tracer = options.tracer ?? InstrumentationSystem.tracer
    guard !(tracer is NoOpTracer) else { return }
    record(operation, in: ServiceContext.current ?? .topLevel, tracer)
  }

  private func record(
    _ operation: CoreDataOperation, in context: ServiceContext, _ tracer: some Tracer
  ) {
    let span = tracer.startSpan(
      operation.name, context: context, ofKind: operation.kind == .statement ? .client : .internal,
      at: OperationInstant(nanosecondsSinceEpoch: operation.begin), function: #function,
      file: #fileID, line: #line)
    if span.isRecording {
      span.updateAttributes { attributes in
        set(&attributes, of: operation)
      }
      if operation.failure != nil { span.setStatus(SpanStatus(code: .error)) }
    }
    if options.spans == .statements {
      for inner in operation.operations { record(inner, in: span.context, tracer) }
    }
    span.end(at: OperationInstant(nanosecondsSinceEpoch: operation.begin + operation.duration))
  }

  private func set(_ attributes: inout SpanAttributes, of operation: CoreDataOperation) {
    func set(_ name: AttributeName, _ value: (some SpanAttributeConvertible)?) {
      if let value { attributes[name.rawValue] = value }
    }
    if let sql = operation.sql {
      set(.system, options.system)
      set(.namespace, options.namespace)
      set(.queryOperation, operation.queryOperation)
      set(.batchSize, operation.isBatch ? operation.executions : nil)
      set(.collection, operation.entity)
      if options.includesQueryText { set(.queryText, sql) }
      set(.querySummary, operation.name)
      set(.returnedRows, operation.costs.selects > 0 ? operation.rows : nil)
      set(.statusCode, operation.failure?.resultCode.map(String.init))
      set(.errorType, operation.statusType)
    } else {
      set(.operation, operation.kind.word)
      set(.entity, operation.entity)
      set(.relationship, operation.relationship)
      set(.context, operation.context)
      set(.source, operation.source?.word)
      set(.count, operation.kind == .transaction ? nil : operation.rows)
      set(.omitted, operation.omitted > 0 ? operation.omitted : nil)
      set(.errorType, operation.failure?.type)
    }
  }
}

/// The time of an operation's begin or end.
private struct OperationInstant: TracerInstant {
  let nanosecondsSinceEpoch: UInt64

  static func < (earlier: OperationInstant, later: OperationInstant) -> Bool {
    earlier.nanosecondsSinceEpoch < later.nanosecondsSinceEpoch
  }
}

extension CoreDataOperation {
  /// The value of `error.type` of a statement: the database's code, as the conventions require.
  var statusType: String? {
    failure.map { $0.resultCode.map(String.init) ?? $0.type }
  }
}

extension CoreDataOperation.Source {
  /// The word for it in attributes.
  var word: String {
    switch self {
    case .rowCache: "row_cache"
    case .parent: "parent"
    case .store: "store"
    }
  }
}
