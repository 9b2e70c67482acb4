import OpenCoreData
import Testing

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

  /// The error of a save; `nil` when it succeeds.
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

extension Trait where Self == ConditionTrait {
  /// Runs a test on the framework's own stores only, because it verifies SQL, a file, or what they
  /// cost or accept.
  ///
  /// Other packages run the suites on stores of their own.
  static var ofOwnStores: Self {
    .enabled(if: StoreKind.sqlite.isOwn, "the test is about the framework's own stores")
  }
}
