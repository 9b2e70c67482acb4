import OpenCoreData
import PostgresStore

/// The kind of stores that the framework's tests of behavior run on in this package.
///
/// The other files are those tests: links to `Tests/OpenCoreDataTests`, where the type has the
/// kinds of stores that the framework has itself.
enum StoreKind: CaseIterable, Sendable {
  case postgres

  // Tests that name a kind run on this one.
  static let (sqlite, memory, sqliteInMemory) = (postgres, postgres, postgres)
  static let ofRows = [postgres]

  /// Whether SQL statements run that the framework counts.
  var runsSQL: Bool { true }
  /// Whether the framework has the store itself.
  var isOwn: Bool { false }
  /// Whether the store exists only as long as its coordinator.
  var isInMemory: Bool { false }
  /// Whether each save writes the whole file.
  var isDocument: Bool { false }

  /// The URL of a store in a schema, which is named after the file that another store would have.
  func url(_ file: URL) -> URL? {
    let uri = ProcessInfo.processInfo.environment["POSTGRES_STORE_TEST_URL"] ?? ""
    var components = URLComponents(string: uri)
    // A schema's name has up to 63 characters: those that differ are at the end of the folder's
    // name.
    let name = "\(file.deletingLastPathComponent().lastPathComponent)/\(file.lastPathComponent)"
    components?.queryItems?.append(
      URLQueryItem(name: "schema", value: String(name.suffix(60))))
    return components?.url
  }

  var type: NSPersistentStore.StoreType {
    NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
    return .postgres
  }
}
