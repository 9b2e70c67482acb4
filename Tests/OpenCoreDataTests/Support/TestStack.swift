import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Synchronization
import Testing

/// A store of any kind with as many contexts over it as a test wants, all of them cold.
///
/// A file is in a folder of its own. A store in memory has one coordinator; what its contexts hold
/// leaves the row cache with them.
final class TestStack {
  let folder: URL
  let storeURL: URL
  let model: NSManagedObjectModel
  let kind: StoreKind
  /// That of a store in memory.
  private let coordinator: NSPersistentStoreCoordinator?

  /// An empty store of a model.
  init(_ kind: StoreKind = .sqlite, model: NSManagedObjectModel) throws {
    self.model = model
    self.kind = kind
    coordinator = kind.isInMemory ? NSPersistentStoreCoordinator(managedObjectModel: model) : nil
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("OpenCoreDataTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    storeURL = folder.appendingPathComponent("Store.sqlite")
    try coordinator?.addPersistentStore(
      ofType: kind.type.rawValue, configurationName: nil, at: kind.url(storeURL))
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// The sample's model, from the file that scenarios use.
  static func moody(_ kind: StoreKind = .sqlite) throws -> TestStack {
    SampleClasses.register()
    return try TestStack(kind, model: TestModels.moody())
  }

  /// A statement costs nothing in memory.
  func statements(_ count: Int) -> Int {
    kind.runsSQL ? count : 0
  }

  /// The texts of statements, of which SQLite alone runs some.
  func texts(_ texts: String...) -> [String] {
    kind.runsSQL ? texts : []
  }

  /// A context that has nothing registered over a row cache that has nothing; of a new coordinator
  /// where there is a file.
  ///
  /// `sinks` hear of the opening too.
  func coldContext(
    sinks: [any EventSink] = [], options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = coordinator ?? NSPersistentStoreCoordinator(managedObjectModel: model)
    for sink in sinks { coordinator.eventHub.add(sink) }
    if !kind.isInMemory {
      try coordinator.addPersistentStore(type: kind.type, at: storeURL, options: options)
    }
    let context = Context(concurrencyType: .privateQueueConcurrencyType)
    // A document is written again by each save: its folder has to be there.
    if kind == .xml || kind == .binary { context.stack = self }
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private final class Context: NSManagedObjectContext, @unchecked Sendable {
    var stack: TestStack?
  }

  /// Copies the one mood there is, row by row, until there are as many; far faster than saving them.
  func multiplyMoods(to count: Int) throws {
    let connection = try Connection(path: storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
        + "INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, ZDATE) "
        + "SELECT i, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, i * 60 FROM n, ZMOOD WHERE Z_PK = 1")
  }

  /// Fills the store with continents, countries and moods, `country` and `continent` taken in turn.
  func addMoods(_ moods: Int, countries: Int, continents: Int = 1) throws {
    let context = try coldContext()
    try context.performAndWait {
      let lands = (0..<continents).map { index in
        let continent = Continent(context: context)
        continent.numericISO3166Code = Int16(1000 + index)
        return continent
      }
      let states = (0..<countries).map { index in
        let country = Country(context: context)
        country.numericISO3166Code = Int16(index + 1)
        country.continent = lands.isEmpty ? nil : lands[index % lands.count]
        return country
      }
      for index in 0..<moods {
        let mood = Mood(context: context)
        mood.date = Date(timeIntervalSinceReferenceDate: Double(index) * 60)
        mood.colors = Data([1, 2, 3])
        mood.country = states.isEmpty ? nil : states[index % states.count]
      }
      try context.save()
    }
  }
}

/// Keeps every event, for tests that ask what happened.
final class EventList: EventSink {
  private let list = Mutex<[Event]>([])

  var detail: EventDetail { [] }

  var events: [Event] {
    list.withLock { $0 }
  }

  func record(_ event: Event) {
    list.withLock { $0.append(event) }
  }

  /// The texts of the statements of a kind, in order.
  func statements(_ kind: StatementKind? = nil) -> [String] {
    events.compactMap(\.statement).filter { kind == nil || $0.kind == kind }.map(\.sql)
  }
}

/// A test's list of log lines.
final class LineList: Sendable {
  private let list = Mutex<[String]>([])

  var lines: [String] {
    list.withLock { $0 }
  }

  func add(_ line: String) {
    list.withLock { $0.append(line) }
  }
}
