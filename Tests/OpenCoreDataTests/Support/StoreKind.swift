import OpenCoreData

/// The kinds of stores that behavior is tested on.
///
/// A test runs on all, with `arguments: StoreKind.allCases`, unless it verifies something that only
/// SQLite has, such as a query plan, a file, or a log. The stack's `statements(_:)` and `texts(_:)`
/// expect statements only if the store runs SQL.
enum StoreKind: CaseIterable, Sendable {
  case sqlite, memory, xml, binary
  /// A SQLite store at `/dev/null`.
  case sqliteInMemory

  /// Stores that are written row by row, for tests with several coordinators.
  static let ofRows = [StoreKind.sqlite, .memory, .sqliteInMemory]

  /// Whether SQL statements run.
  var runsSQL: Bool { self == .sqlite || self == .sqliteInMemory }
  /// Whether the framework has the store itself.
  var isOwn: Bool { true }

  /// Whether the store exists only as long as its coordinator.
  var isInMemory: Bool { self == .memory || self == .sqliteInMemory }

  /// Whether each save writes the whole file.
  var isDocument: Bool { self == .xml || self == .binary }

  /// The store's URL: a file, `/dev/null`, or `nil`.
  func url(_ file: URL) -> URL? {
    switch self {
    case .sqliteInMemory: URL(fileURLWithPath: "/dev/null")
    case .memory: nil
    case .sqlite, .xml, .binary: file
    }
  }

  var type: NSPersistentStore.StoreType {
    switch self {
    case .sqlite, .sqliteInMemory: .sqlite
    case .memory: .inMemory
    case .xml: .xml
    case .binary: .binary
    }
  }
}
