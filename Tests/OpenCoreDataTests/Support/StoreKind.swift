import OpenCoreData

/// The stores that behavior is tested on: what holds for one holds for the others.
///
/// A test takes all, with `arguments: StoreKind.allCases`, unless what it states is SQLite's own: a
/// plan, a file, a log. Statements are stated for all, by `statements(_:)` and `texts(_:)` of the stack,
/// which has none but in SQLite.
enum StoreKind: CaseIterable, Sendable {
  case sqlite, memory, xml, binary
  /// A SQLite store at `/dev/null`.
  case sqliteInMemory

  /// Those that are written row by row, for tests in which one coordinator sees what another wrote.
  static let ofRows = [StoreKind.sqlite, .memory, .sqliteInMemory]

  /// Whether SQL statements run.
  var runsSQL: Bool { self == .sqlite || self == .sqliteInMemory }

  /// Whether the store goes with its coordinator.
  var isInMemory: Bool { self == .memory || self == .sqliteInMemory }

  /// Where the store is added: a file, `/dev/null`, or nowhere.
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

/// A store of any kind with contexts over it that know nothing.
final class GraphStack {
  let kind: StoreKind
  private let stack: TestStack

  /// An empty store of a model.
  init(_ kind: StoreKind, model: NSManagedObjectModel) throws {
    self.kind = kind
    stack = try TestStack(kind, model: model)
  }

  /// The file, for tests that look at its tables.
  var storeURL: URL { stack.storeURL }

  /// A context that has nothing registered.
  func context() throws -> NSManagedObjectContext {
    try stack.coldContext()
  }

  /// A statement costs nothing in memory.
  func statements(_ count: Int) -> Int {
    stack.statements(count)
  }
}

extension NSManagedObjectContext {
  /// All objects of an entity, by a key that tells them apart.
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
  /// The code, or the codes of the errors it sums up, in ascending order.
  var codes: [Int] {
    guard let details = userInfo[NSDetailedErrorsKey] as? [NSError] else { return [code] }
    return details.map(\.code).sorted()
  }
}
