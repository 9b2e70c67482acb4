package import Foundation
import ProfileEvents
import SQLiteDriver
package import StatementAnalysis

extension LogReport {
  /// Statements that indexes are looked for at most: those that took longest, then those run most often.
  static let mostAdvised = 200

  /// Tries indexes for the statements of the log on a copy of a store, which is not changed.
  ///
  /// Values that the log lacks (level 1, or `<private>`) are taken from the store. Cut statements are
  /// left out.
  /// - Throws: the file system's `NSError`; `SQLiteError` when the file is no store.
  package func advice(on store: URL) throws -> IndexAdvice {
    try IndexAdvisor(storeURL: store).advice(on: advisedStatements)
  }

  /// The statements to look for indexes for, with what the log says was bound.
  var advisedStatements: [AdvisedStatement] {
    statements.filter { !$0.isCut && $0.kind != .transaction && $0.kind != .housekeeping }
      .sorted { ($0.own, $0.calls, $1.number) > ($1.own, $1.calls, $0.number) }
      .prefix(LogReport.mostAdvised)
      .map { statement in
        AdvisedStatement(
          sql: statement.sql, binds: statement.boundValues, count: statement.calls,
          entity: statement.entity)
      }
  }
}

extension LogStatement {
  /// What was bound, one value for each placeholder; nil when the log does not say, or not all.
  var boundValues: [SQLiteValue]? {
    guard !binds.isEmpty, !binds.contains(where: { $0.hasPrefix("<private") }) else { return nil }
    let wanted = SQLToken.all(in: LogBytes(sql)).count { $0.isSign("?") }
    guard binds.count == wanted else { return nil }
    return binds.map(BindText.value)
  }
}
