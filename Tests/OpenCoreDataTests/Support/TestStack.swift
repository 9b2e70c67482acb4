import CoreDataCosts
import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

/// A store of any kind with any number of cold contexts.
///
/// A file is in its own folder. An in-memory store has one coordinator; rows leave its row cache
/// with the contexts that use them.
final class TestStack {
  let folder: URL
  let storeURL: URL
  let model: NSManagedObjectModel
  let kind: StoreKind
  /// The coordinator of an in-memory store.
  private let coordinator: NSPersistentStoreCoordinator?

  /// An empty store of a model.
  init(_ kind: StoreKind = .sqlite, model: NSManagedObjectModel) throws {
    self.model = model
    self.kind = kind
    coordinator = kind.isInMemory ? NSPersistentStoreCoordinator(managedObjectModel: model) : nil
    folder = try ProcessFolder.makeFolder()
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

  /// The number of statements, which is 0 if the store doesn't run SQL.
  func statements(_ count: Int) -> Int {
    kind.runsSQL ? count : 0
  }

  /// The SQL of statements, which is empty if the store doesn't run SQL.
  func texts(_ texts: String...) -> [String] {
    kind.runsSQL ? texts : []
  }

  /// A context without registered objects, with an empty row cache; it has a new coordinator if the
  /// store is a file.
  ///
  /// `sinks` also receive the events of opening the store.
  func coldContext(
    sinks: [any EventSink] = [], options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = coordinator ?? NSPersistentStoreCoordinator(managedObjectModel: model)
    for sink in sinks { coordinator.eventHub.add(sink) }
    if !kind.isInMemory {
      try coordinator.addPersistentStore(
        type: kind.type, at: kind.url(storeURL) ?? storeURL, options: options)
    }
    let context = Context(concurrencyType: .privateQueueConcurrencyType)
    // Each save rewrites the file of an atomic store, so its folder must exist.
    if kind.isDocument { context.stack = self }
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private final class Context: NSManagedObjectContext, @unchecked Sendable {
    var stack: TestStack?
  }

  /// Copies the only mood in SQL until there are `count` rows, which is faster than saving them.
  func multiplyMoods(to count: Int) throws {
    let connection = try Connection(path: storeURL.path, access: .writing)
    defer { connection.close() }
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
        + "INSERT INTO ZMOOD(Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, ZDATE) "
        + "SELECT i, Z_ENT, Z_OPT, ZCOUNTRY, ZCOLORS, i * 60 FROM n, ZMOOD WHERE Z_PK = 1")
  }

  /// Copies the only country in SQL until there are `count` rows, and assigns them to the moods in
  /// turn.
  func multiplyCountries(to count: Int) throws {
    let connection = try Connection(path: storeURL.path, access: .writing)
    defer { connection.close() }
    let columns = "Z_ENT, Z_OPT, ZCONTINENT, ZNUMBEROFMOODS, ZNUMERICISO3166CODE, ZUPDATEDAT"
    try connection.execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1)) "
        + "INSERT INTO ZREGION(Z_PK, \(columns)) SELECT Z_PK + i, \(columns) FROM n, ZREGION "
        + "WHERE Z_PK = (SELECT max(ZCOUNTRY) FROM ZMOOD)")
    try connection.execute("UPDATE ZMOOD SET ZCOUNTRY = ZCOUNTRY + Z_PK % \(count)")
  }

  /// Saves continents, countries, and moods, assigning countries and continents in turn.
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
