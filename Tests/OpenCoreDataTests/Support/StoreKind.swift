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

  /// Whether the store exists only as long as its coordinator.
  var isInMemory: Bool { self == .memory || self == .sqliteInMemory }

  /// The store's URL: a file, `/dev/null`, or nil.
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

/// A store of any kind with new contexts.
final class GraphStack {
  let kind: StoreKind
  private let stack: TestStack

  /// An empty store of a model.
  init(_ kind: StoreKind, model: NSManagedObjectModel) throws {
    self.kind = kind
    stack = try TestStack(kind, model: model)
  }

  /// The file, for tests that read its tables.
  var storeURL: URL { stack.storeURL }

  /// A new context without registered objects.
  func context() throws -> NSManagedObjectContext {
    try stack.coldContext()
  }

  /// The number of statements, which is 0 if the store doesn't run SQL.
  func statements(_ count: Int) -> Int {
    stack.statements(count)
  }
}

extension NSManagedObjectContext {
  /// All objects of an entity, sorted by a key.
  func all(_ entity: String, by key: String = "name") throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    return try fetch(request)
  }

  /// The error of a save; nil when it succeeds.
  func saveError() -> NSError? {
    do {
      try save()
      return nil
    } catch {
      return error as NSError
    }
  }
}

extension NSError {
  /// The code, or the codes of the detailed errors, in ascending order.
  var codes: [Int] {
    guard let details = userInfo[NSDetailedErrorsKey] as? [NSError] else { return [code] }
    return details.map(\.code).sorted()
  }
}
