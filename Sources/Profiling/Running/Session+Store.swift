import OpenCoreData
import ProfileEvents
import SQLiteDriver
import ScenarioLanguage
import WorkbenchText

extension Session {
  /// Runs an SQL statement on the store, bypassing the framework.
  func runStatement(_ step: Step) throws -> String {
    let (rows, first) = try rawConnection().run(step.subject, from: step.location)
    guard rows > 0 else { return "done, no rows" }
    let values = first.map(Self.shortened).joined(separator: ", ")
    return NumberText.counted(rows, "row") + (rows == 1 ? ": " : ", the first: ") + values
  }

  /// Returns a value as text, with a long string truncated and a long BLOB replaced by its size.
  private static func shortened(_ value: SQLiteValue) -> String {
    switch value {
    case .text(let text) where text.utf8.count > longestText: "\"\(text.prefix(longestText))…\""
    case .blob(let bytes) where bytes.count > longestText: NumberText.counted(bytes.count, "byte")
    default: value.description
    }
  }

  /// The maximum length of a value, in bytes.
  private static let longestText = 1_000

  /// Creates or drops an index of the store.
  func changeIndex(_ step: Step) throws -> String {
    let connection = try rawConnection()
    if let name = step.name(of: .remove) {
      let stored = NSManagedObjectModel.storeIndexName(name, ofEntity: step.subject)
      let known = try connection.run(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND name IN (\(quoted(name)), "
          + "\(quoted(stored)))", as: .housekeeping, from: step.location)
      guard case .text(let index)? = known.first.first else {
        throw StepInput.error("The store has no index `\(name)`; `cdprof inspect` lists them.")
      }
      _ = try connection.run(
        "DROP INDEX \(SQLNames.quoted(index))", as: .housekeeping, from: step.location)
      return "index \(index) dropped"
    }
    guard let index = try storeIndex(step) else {
      throw StepInput.error(
        "The predicate can't be translated to the WHERE clause of an index. Compare attributes of "
          + "\(step.subject) with constants.")
    }
    _ = try connection.run(index.sql, as: .housekeeping, from: step.location)
    return "index \(index.name) created"
  }

  /// Updates SQLite's statistics with `ANALYZE`.
  ///
  /// The old statistics are dropped first because other connections read new ones only if the
  /// schema has changed.
  func analyze(_ step: Step) throws -> String {
    let connection = try rawConnection()
    for sql in ["DROP TABLE IF EXISTS sqlite_stat1", "ANALYZE"] {
      _ = try connection.run(sql, as: .housekeeping, from: step.location)
    }
    return "statistics gathered"
  }

  /// Reopens the store with a pragma.
  ///
  /// - Throws: An `NSError` if a context has unsaved changes, or if the store can't be reopened.
  func setPragma(_ step: Step) throws -> String {
    guard let value = step.text(of: .to) else { return "" }
    for named in stack.contexts {
      guard !named.context.performAndWait({ named.context.hasChanges }) else {
        throw StepInput.error(
          "The store can't be reopened: `\(named.name)` has unsaved changes. Save them first.")
      }
    }
    raw = nil
    try stack.reopen(pragma: step.subject, value)
    return "reopened with \(step.subject) = \(value)"
  }

  private func storeIndex(_ step: Step) throws -> SchemaIndex? {
    guard let keys = step.sortKeys(of: .keys), let name = step.name else { return nil }
    var predicate: NSPredicate?
    if let format = step.format(of: .predicate) {
      predicate = try NSPredicate.parse(format, arguments: [])
    }
    return model.storeIndex(
      named: name, ofEntity: step.subject, keys: keys.map { ($0.keyPath, $0.isAscending) },
      where: predicate)
  }

  /// Returns the session's own SQLite connection, which is opened on first use.
  func rawConnection() throws -> RawConnection {
    if let raw { return raw }
    let made = try RawConnection(
      storeURL: storeURL, isReadOnly: isReadOnly, pragmas: stack.pragmas, hub: stack.hub)
    raw = made
    return made
  }

  private func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
  }
}
