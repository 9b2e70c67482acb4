import OpenCoreData
import PostgresStore
import Testing

/// A PostgreSQL store and a SQLite store with the same data.
///
/// Created once for all tests that only read.
struct SameData: @unchecked Sendable {
  // the coordinators are thread-safe, and the stack is only kept
  private let stack: PostgresStack
  private let sqlite: NSPersistentStoreCoordinator

  static let shared = Result { try SameData() }

  private init() throws {
    stack = try PostgresStack(SampleModels.company())
    sqlite = NSPersistentStoreCoordinator(managedObjectModel: SampleModels.company())
    try sqlite.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
    for coordinator in [stack.coordinator, sqlite] {
      let context = stack.context(coordinator)
      try context.performAndWait {
        Self.fill(context)
        try context.save()
      }
    }
  }

  /// Returns the results of a body in a new context of each store.
  func results<Value>(
    _ body: (NSManagedObjectContext) throws -> Value
  ) throws -> (postgres: Value, sqlite: Value) {
    let contexts = [stack.coordinator, sqlite].map { stack.context($0) }
    let values = try contexts.map { context in try context.performAndWait { try body(context) } }
    return (values[0], values[1])
  }

  private static func fill(_ context: NSManagedObjectContext) {
    let sales = context.insert("Department", ["name": "Sales"])
    let labs = context.insert("Department", ["name": "Labs"])
    context.insert("Department", ["name": "Empty"])
    let skills = ["Swift", "SQL", "C"].map { context.insert("Skill", ["name": $0]) }
    let tasks = ["plan", "build", "test"].map { context.insert("Task", ["name": $0]) }
    let uuid = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")
    let ben = context.insert(
      "Manager",
      [
        "name": "Ben", "age": 50, "score": 2.5, "wage": Decimal(string: "100.10"), "active": true,
        "level": 2, "department": sales, "hired": Date(timeIntervalSinceReferenceDate: 1000.5),
        "code": UUID(uuidString: "00000000-0000-0000-0000-00000000000B"),
        "skills": Set(skills[0...1]), "ratio": Float(0.5),
      ])
    let dora = context.insert(
      "Manager", ["name": "Dora", "age": 41, "score": -1.5, "active": false, "level": 3])
    let ada = context.insert(
      "Person",
      [
        "name": "Ada", "age": 36, "score": 2.5, "wage": Decimal(string: "99.9"), "active": true,
        "department": sales, "boss": ben, "code": uuid, "site": URL(string: "https://a.example/x"),
        "skills": Set(skills), "hired": Date(timeIntervalSinceReferenceDate: 0),
        "photo": Data([1, 2, 3]),
      ])
    let cleo = context.insert(
      "Person",
      [
        "name": "Cleo", "age": 36, "active": false, "department": labs, "boss": dora,
        "skills": Set([skills[2]]), "wage": Decimal(7), "ratio": Float(0.1),
      ])
    context.insert(
      "Person", ["name": "ada", "age": 0, "score": 0.0, "boss": ben, "friends": Set([ada, cleo])])
    context.insert("Person", ["name": "100% \\ _x_", "age": -5, "score": 1e10, "department": labs])
    context.insert("Person", ["name": "", "age": 7])
    context.insert("Person", ["age": 99, "site": URL(string: "b:c")])
    context.insert("Person", ["name": "Zoë\nline", "score": 0.1, "department": sales])
    for (name, age) in [
      ("ÄDA", 70), ("straße", 71), ("STRASSE", 72), ("A\u{308}da", 73), ("ΣΊΣΥΦΟΣ", 74), ("K", 75),
    ] {
      context.insert("Person", ["name": name, "age": age])
    }
    let badge = context.insert("Badge", ["number": 42])
    ada.setValue(badge, forKey: "badge")
    for task in tasks { ada.mutableOrderedSetValue(forKey: "favorites").add(task) }
    for task in tasks.prefix(2) { sales.mutableOrderedSetValue(forKey: "tasks").add(task) }
  }
}
