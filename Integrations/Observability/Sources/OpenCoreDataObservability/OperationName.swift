import CoreDataCosts

extension CoreDataOperation.Kind {
  /// The word for it in names of spans, attributes, and messages.
  var word: String {
    switch self {
    case .fetch: "fetch"
    case .save: "save"
    case .fault: "fault"
    case .relationshipFault: "relationship fault"
    case .prefetch: "prefetch"
    case .batchLoad: "batch load"
    case .batchRequest: "batch request"
    case .merge: "merge"
    case .transaction: "transaction"
    case .statement: "statement"
    }
  }
}

extension CoreDataOperation {
  /// The name of the span: of a statement, its summary, otherwise the word for its kind and the
  /// entity or relationship.
  ///
  /// There are as many names as a program has entities, relationships, and shapes of statements.
  var name: String {
    if let sql { return isBatch ? "BATCH \(QuerySummary.text(sql))" : QuerySummary.text(sql) }
    return ([kind.word] + [subject].compactMap { $0 }).joined(separator: " ")
  }

  /// The entity, with the relationship if there's one.
  private var subject: String? {
    guard let entity else { return nil }
    return relationship.map { "\(entity).\($0)" } ?? entity
  }

  /// The first word of the SQL; for executions of the same statement that are one operation, with
  /// `BATCH` before it.
  var queryOperation: String? {
    sql.map { isBatch ? "BATCH \(QuerySummary.verb($0))" : QuerySummary.verb($0) }
  }

  /// Whether the operation is several executions of a statement.
  var isBatch: Bool { executions > 1 }

  /// Whether it has spans and lines, because it used the store or failed.
  var isReported: Bool {
    switch kind {
    case .fault, .relationshipFault:
      source == .store || failure != nil || !operations.isEmpty
    default: true
    }
  }
}

extension CoreDataOperation.Failure {
  /// The value of `error.type` for an operation of the framework.
  var type: String { "\(domain).\(code)" }
}
