/// The names of the metrics.
enum MetricName: String, CaseIterable {
  case statementDuration = "db.client.operation.duration"
  case returnedRows = "db.client.response.returned_rows"
  case operationDuration = "coredata.operation.duration"
  case fetches = "coredata.fetches"
  case saves = "coredata.saves"
  case statements = "coredata.statements"
  case transactions = "coredata.transactions"
  case rows = "coredata.rows"
  case faults = "coredata.faults"
  case prefetches = "coredata.prefetches"
  case failures = "coredata.failures"

  /// The type of the metric in `swift-metrics`, for the table in the README.
  var type: String {
    switch self {
    case .statementDuration, .operationDuration: "Timer, in seconds"
    case .returnedRows: "Recorder"
    default: "Counter"
    }
  }

  /// The names of its dimensions.
  var dimensions: [AttributeName] {
    switch self {
    case .statementDuration: [.system, .queryOperation, .collection, .errorType]
    case .returnedRows: [.system, .queryOperation, .collection]
    case .operationDuration, .failures: [.operation, .entity, .errorType]
    case .statements: [.queryOperation]
    case .faults: [.source]
    case .fetches, .saves, .transactions, .rows, .prefetches: []
    }
  }

  /// What it measures, for the table in the README.
  var meaning: String {
    switch self {
    case .statementDuration:
      "the duration of each statement, or the sum of its executions in a transaction"
    case .returnedRows: "the rows of each SELECT"
    case .operationDuration:
      "the duration of each fetch, save, and other operation that no other one caused; of faults, those that the store fulfilled"
    case .fetches: "executed fetch requests"
    case .saves: "saves that wrote changes"
    case .statements: "SELECTs, INSERTs, UPDATEs, and DELETEs, one for each execution"
    case .transactions: "committed write transactions"
    case .rows: "rows that SELECTs returned"
    case .faults:
      "faults that fired: from the row cache, a parent context, or the store, which is a cache miss"
    case .prefetches: "prefetched relationships"
    case .failures: "operations that failed"
    }
  }
}
