/// The names of attributes of spans, dimensions of metrics, and keys of lines.
///
/// Those that begin with `db.` or `error.` are of OpenTelemetry's semantic conventions for database
/// spans and metrics.
enum AttributeName: String, CaseIterable {
  case system = "db.system.name"
  case namespace = "db.namespace"
  case queryOperation = "db.operation.name"
  case batchSize = "db.operation.batch.size"
  case collection = "db.collection.name"
  case queryText = "db.query.text"
  case querySummary = "db.query.summary"
  case returnedRows = "db.response.returned_rows"
  case statusCode = "db.response.status_code"
  case errorType = "error.type"
  case operation = "coredata.operation"
  case entity = "coredata.entity"
  case relationship = "coredata.relationship"
  case context = "coredata.context"
  case source = "coredata.fault.source"
  case count = "coredata.count"
  case omitted = "coredata.omitted"
  case duration = "coredata.duration"
  case statements = "coredata.statements"
  case rows = "coredata.rows"
  case misses = "coredata.misses"

  /// Where it's used: in spans of statements or of the framework's operations, in metrics, in lines.
  enum Place: String, CaseIterable {
    case statement = "statement"
    case operation = "operation"
    case metric = "metrics"
    case line = "log"
  }

  /// Where it's used.
  var places: [Place] {
    switch self {
    case .system: [.statement, .metric]
    case .namespace: [.statement]
    case .queryOperation, .collection: [.statement, .metric]
    case .batchSize, .statusCode: [.statement]
    case .returnedRows: [.statement]
    case .queryText, .querySummary: [.statement, .line]
    case .errorType: [.statement, .operation, .metric, .line]
    case .operation, .entity: [.operation, .metric, .line]
    case .relationship, .count: [.operation, .line]
    case .context: [.operation, .line]
    case .source: [.operation, .metric, .line]
    case .omitted: [.operation]
    case .duration, .statements, .rows, .misses: [.line]
    }
  }

  /// What its value is, for the table in the README.
  var meaning: String {
    switch self {
    case .system: "`sqlite`, or the option `system`"
    case .namespace: "the option `namespace`; by default, there's none"
    case .queryOperation:
      "`SELECT`, `INSERT`, `UPDATE`, or `DELETE`; with `BATCH` before it if it ran several times"
    case .batchSize: "how often it ran, if more than once"
    case .collection: "the entity that the statement is for"
    case .queryText:
      "the SQL with `?`, or what the store writes, for values; in lines, that of the slowest statement of a slow operation"
    case .querySummary:
      "the operation and the tables; in lines, those of the slowest statement of a slow operation"
    case .returnedRows: "the number of rows that a SELECT returned"
    case .statusCode: "SQLite's extended result code, if it failed"
    case .errorType:
      "the same; for the framework's operations, the domain and code of the error, such as `NSCocoaErrorDomain.133020`"
    case .operation: "the word for the operation, as in the name of its span"
    case .entity: "the entity; saves and transactions have none"
    case .relationship: "the relationship of a relationship fault or a prefetch"
    case .context: "the name of the context, if it has one"
    case .source: "where a fault's values came from: `row_cache`, `parent`, or `store`"
    case .count: "the number of results, objects, or destinations"
    case .omitted:
      "the number of operations in it that have no span, because there are more than 1,000"
    case .duration: "the duration in seconds"
    case .statements: "the number of SELECTs, INSERTs, UPDATEs, and DELETEs"
    case .rows: "the number of rows that the SELECTs returned"
    case .misses: "the number of faults that the store fulfilled"
    }
  }
}
