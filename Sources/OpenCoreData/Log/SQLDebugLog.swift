import ManagedModel
package import ProfileEvents
import Synchronization

/// Writes events as SQLDebug's lines, in Apple's exact shapes.
///
/// Levels: 1 the SQL and its times, 2 the bound values as well. The shapes of higher levels build on
/// these. Row-cache hits have no line, as in Apple's log; saves have no times, as there.
package final class SQLDebugLog: EventSink {
  /// 0 to 4; 0 writes nothing.
  package let level: Int
  private let write: @Sendable (String) -> Void
  /// The kinds of the statements that ended inside each open event, by that event's number.
  private let counts = Mutex<Set<Int>>([])

  /// `write` gets one line at a time, without a line feed.
  package init(level: Int, write: @escaping @Sendable (String) -> Void) {
    self.level = level
    self.write = write
  }

  /// The log that the process's arguments ask for (`-com.apple.CoreData.SQLDebug N`), on stderr.
  static let requestedByArguments: SQLDebugLog? = {
    let arguments = CommandLine.arguments
    guard let flag = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug"),
      arguments.indices.contains(flag + 1), let level = Int(arguments[flag + 1]), level > 0
    else { return nil }
    return SQLDebugLog(level: level) { line in
      FileHandle.standardError.write(Data((line + "\n").utf8))
    }
  }()

  /// Bound values from level 2 on.
  package var detail: EventDetail {
    level >= 2 ? .binds : []
  }

  /// Writes the lines of one event.
  package func record(_ event: Event) {
    guard level > 0 else { return }
    switch event.kind {
    case .storeOpening:
      annotate("Connecting to sqlite database file at \"\(event.path ?? "")\"")
    case .statement:
      if let statement = event.statement { log(statement, of: event) }
    case .fetch:
      endFetch(event)
    case .batchLoad:
      annotate(total(event))
    case .objectFault where event.source == .database:
      annotate(total(event))
      annotate("fault fulfilled from database for : \(address(event)) \(uri(event))")
    case .relationshipFault where event.source == .database:
      annotate(total(event))
      annotate(
        "to-many relationship fault \"\(event.relationship ?? "")\" for objectID "
          + "\(address(event)) \(uri(event)) fulfilled from database.  Got \(event.rows) rows")
    case .prefetch:
      annotate(total(event))
      annotate("Prefetching with key '\(event.relationship ?? "")'.  Got \(event.rows) rows.")
    default:
      break
    }
  }

  private func log(_ statement: StatementRecord, of event: Event) {
    for index in 0..<statement.intArrays {
      annotate("Bound intarray _Z_intarray\(index)")
      annotate("Bound intarray values.")
    }
    write("CoreData: sql: \(statement.sql)")
    for (index, bind) in (level >= 2 ? statement.binds ?? [] : []).enumerated() {
      write("CoreData: details: SQLite bind[\(index)] = \(bind)")
    }
    guard statement.kind == .select else { return }
    if statement.sql.hasPrefix("SELECT COUNT(") {
      counts.withLock { _ = $0.insert(event.parent) }
    } else {
      annotate("sql connection fetch time: \(seconds(event))")
    }
  }

  private func endFetch(_ event: Event) {
    if counts.withLock({ $0.remove(event.id) != nil }) {
      annotate("total count request execution time: \(seconds(event)) for count of \(event.rows).")
    } else {
      annotate(total(event))
    }
  }

  private func annotate(_ text: String) {
    write("CoreData: annotation: \(text)")
  }

  private func total(_ event: Event) -> String {
    "total fetch execution time: \(seconds(event)) for \(event.rows) rows."
  }

  private func seconds(_ event: Event) -> String {
    String(format: "%.4fs", Double(event.duration) / 1e9)
  }

  private func uri(_ event: Event) -> String {
    "<\(event.object?.uri ?? "")>"
  }

  /// Apple prints the object ID's address or tagged value here; ours stands for the key alone.
  private func address(_ event: Event) -> String {
    "0x" + String(event.object?.primaryKey ?? 0, radix: 16)
  }
}
