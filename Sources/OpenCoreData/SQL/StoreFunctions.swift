import ManagedModel
package import SQLiteDriver

/// The SQL functions and collations which Apple's SQL, triggers and indexes take for granted.
///
/// A connection without them cannot run such SQL, nor explain it: "no such function".
package enum StoreFunctions {
  /// Adds everything to a connection.
  ///
  /// - Parameter connection: A connection nobody else uses now.
  package static func register(on connection: Connection) throws(SQLiteError) {
    try register(on: connection) { _ in }
  }

  /// Adds everything to a connection, and hears of derived values.
  ///
  /// - Parameters:
  ///   - connection: A connection nobody else uses now.
  ///   - derivedValue: Called for every derived value that a trigger has written, on the
  ///     connection's thread, while the statement runs.
  static func register(
    on connection: Connection,
    derivedValue: @escaping @Sendable (DerivedValueChange) -> Void
  ) throws(SQLiteError) {
    for function in TextFunction.allCases {
      try connection.createFunction(
        function.rawValue, argumentCount: function.argumentCount, deterministic: true
      ) { try function.value($0) }
    }
    for function in ValueFunction.allCases {
      try connection.createFunction(
        function.rawValue, argumentCount: function.argumentCount, deterministic: true
      ) { function.value($0) }
    }
    try connection.createFunction(
      "NSCoreDataNow", argumentCount: 0, deterministic: false
    ) { _ in .real(Date().timeIntervalSinceReferenceDate) }
    for name in triggerFunctions {
      try connection.createFunction(name, argumentCount: 5, deterministic: false) { arguments in
        if let change = DerivedValueChange(arguments) { derivedValue(change) }
        return .null
      }
    }
    for collation in StoreCollation.allCases {
      try connection.createCollation(collation.rawValue) { left, right in
        collation.compare(left, right)
      }
    }
  }

  /// What triggers call with table, entity number, key, property and value, so that the framework
  /// learns what they wrote.
  private static let triggerFunctions = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]
}
