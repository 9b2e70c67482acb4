import ManagedModel
import ProfileEvents

/// Writes what migrations do, as `-com.apple.CoreData.MigrationDebug` requests.
///
/// Core Data's lines for this argument aren't publicly known, so all of these begin with
/// `cdprof: migration:`. Levels: 1 the versions, how the mapping was found, and the result; 2 also
/// each step with its rows and time; 3 also the SQL of each step. `Documentation/log-formats.md`
/// describes them.
struct MigrationDebugLog: Sendable {
  /// 1 to 3.
  let level: Int
  private let write: @Sendable (String) -> Void

  /// Creates a log.
  ///
  /// - Parameters:
  ///   - level: The level; nothing is created for 0.
  ///   - write: Called with one line at a time, without a line feed.
  init?(level: Int, write: @escaping @Sendable (String) -> Void) {
    guard level > 0 else { return nil }
    self.level = level
    self.write = write
  }

  /// The log on stderr that the process's arguments request; `nil` if they don't.
  static let requestedByArguments = MigrationDebugLog(
    level: level(in: CommandLine.arguments), write: SQLDebugLog.writeToStandardError)

  /// Returns the level in arguments; 0 for none, and for a value that isn't a number.
  static func level(in arguments: [String]) -> Int {
    guard let flag = arguments.firstIndex(of: "-com.apple.CoreData.MigrationDebug"),
      arguments.indices.contains(flag + 1)
    else { return 0 }
    return max(0, Int(arguments[flag + 1]) ?? 0)
  }

  /// Writes the beginning of a migration, with both versions.
  func begin(
    _ url: URL, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ way: String
  ) {
    line("store \(url.path)")
    line("from \(Self.text(source))")
    line("to \(Self.text(destination))")
    line(way)
  }

  /// Writes a decision, such as how a mapping was found.
  func note(_ text: @autoclosure () -> String) { line(text()) }

  /// Writes a step that has ended.
  ///
  /// - Parameters:
  ///   - name: What it did.
  ///   - rows: The number of rows or instances.
  ///   - sql: Its statement; `nil` if it isn't one.
  func step(_ name: String, rows: Int, seconds: Double, sql: String? = nil) {
    guard level >= 2 else { return }
    line("step: \(name): \(rows) rows, \(String(format: "%.4f", seconds))s")
    if level >= 3, let sql { line("sql: \(sql)") }
  }

  /// Runs a migration, and writes its result and time.
  func run(_ migration: () throws -> Void) throws {
    let begin = MonotonicClock.now()
    do {
      try migration()
    } catch {
      line("failed: \((error as NSError).localizedDescription)")
      throw error
    }
    let seconds = Double(MonotonicClock.now() - begin) / 1e9
    line("complete: \(String(format: "%.4f", seconds))s")
  }

  private func line(_ text: String) {
    write("cdprof: migration: \(SQLDebugLines.oneLine(text))")
  }

  private static func text(_ model: NSManagedObjectModel) -> String {
    let names = model.versionIdentifiers.compactMap { $0.base as? String }.filter { !$0.isEmpty }
    let identifiers = names.isEmpty ? "" : " (\(names.sorted().joined(separator: ", ")))"
    return "version \(model.versionChecksum)\(identifiers), \(model.entities.count) entities"
  }
}

/// Emits the events of one migration: one for each step, and one for the entire migration.
struct MigrationEvents {
  private let hub: EventHub
  private let id: Int
  private let begin = MonotonicClock.now()

  /// Begins a migration; returns `nil` if no sink receives events.
  init?(_ hub: EventHub) {
    guard hub.isListening else { return nil }
    self.hub = hub
    id = hub.nextID()
  }

  /// Emits the event of a step that ends now.
  ///
  /// - Parameters:
  ///   - work: What it did.
  ///   - purpose: A description.
  ///   - begin: When it began, on `MonotonicClock`.
  ///   - rows: The number of rows that it wrote.
  ///   - sql: Its statement; `nil` for a pass of an entity mapping.
  ///   - entity: The entity whose instances it migrated; `nil` for a statement.
  func step(
    _ work: MigrationRecord.Work, _ purpose: String, from begin: UInt64, rows: Int,
    sql: String? = nil, entity: String? = nil
  ) {
    var event = event(.migrationStep, hub.nextID(), parent: id, from: begin)
    event.migration = MigrationRecord(work: work, purpose: purpose)
    event.rows = rows
    event.entity = entity
    event.statement = sql.map { StatementRecord(kind: .housekeeping, sql: $0) }
    hub.emit(event)
  }

  /// Emits the event of the migration, which ends now.
  func end(_ work: MigrationRecord.Work, _ purpose: String) {
    var event = event(.migration, id, parent: 0, from: begin)
    event.migration = MigrationRecord(work: work, purpose: purpose)
    hub.emit(event)
  }

  private func event(
    _ kind: EventKind, _ id: Int, parent: Int, from begin: UInt64
  ) -> Event {
    Event(
      id: id, parent: parent, kind: kind, begin: begin, duration: MonotonicClock.now() - begin,
      thread: MonotonicClock.threadID())
  }
}
