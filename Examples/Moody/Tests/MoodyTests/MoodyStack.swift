import Moody
import OpenCoreData

/// The kinds of stores that the sample is tested on.
enum StoreKind: CaseIterable, Sendable {
  case sqlite, memory, xml, binary

  var type: NSPersistentStore.StoreType {
    switch self {
    case .sqlite: .sqlite
    case .memory: .inMemory
    case .xml: .xml
    case .binary: .binary
    }
  }
}

/// A store in a folder of its own, and contexts over it.
final class MoodyStack {
  let kind: StoreKind
  let coordinator: NSPersistentStoreCoordinator
  private let folder: URL

  /// An empty store of the sample's model, or of another one.
  init(_ kind: StoreKind, model: NSManagedObjectModel = MoodyModel.make()) throws {
    MoodyContainer.registerClasses()
    self.kind = kind
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("MoodyTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: kind.type, at: storeURL)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  var storeURL: URL { folder.appendingPathComponent("Moody.store") }

  /// A context on a queue of its own.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// A context over another coordinator, whose row cache is empty; in memory, another context.
  func coldContext() throws -> NSManagedObjectContext {
    guard kind != .memory else { return context() }
    let cold = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    try cold.addPersistentStore(type: kind.type, at: storeURL)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = cold
    return context
  }

  /// As many SELECTs as SQLite runs; other stores run none.
  func selects(_ count: Int) -> Int { kind == .sqlite ? count : 0 }
}

extension NSManagedObjectContext {
  /// The country of a code, created with its continent if it doesn't exist.
  func country(_ code: Int16, continent continentCode: Int16 = 10_001) throws -> Country {
    try Country.findOrCreate(
      in: self, matching: NSPredicate(format: "numericISO3166Code == %ld", Int(code))
    ) { country in
      country.numericISO3166Code = code
      country.continent = try? Continent.findOrCreate(
        in: self, matching: NSPredicate(format: "numericISO3166Code == %ld", Int(continentCode))
      ) { $0.numericISO3166Code = continentCode }
    }
  }

  @discardableResult
  func mood(_ minute: Int, in country: Country?) -> Mood {
    let mood: Mood = insertObject()
    mood.date = Date(timeIntervalSinceReferenceDate: Double(minute) * 60)
    mood.colors = Data([1, 2, 3])
    mood.country = country
    return mood
  }
}

/// The last notification that a context posted when it had saved.
final class SaveNotifications: @unchecked Sendable {
  // posted on the context's queue, while the test waits for it
  private(set) var last: Notification?
  private var token: (any NSObjectProtocol)?

  init(of context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [weak self] in self?.last = $0 }
  }

  deinit {
    token.map(NotificationCenter.default.removeObserver)
  }
}

/// A model of objects with a name, for tests of text.
enum NamedModel {
  static func make() -> NSManagedObjectModel {
    let town = NSEntityDescription()
    town.name = "Town"
    let index = NSEntityDescription()
    index.name = "Order"
    let order = relationship("order", to: index, isToMany: false)
    let towns = relationship("towns", to: town, isToMany: true)
    towns.isOrdered = true
    order.inverseRelationship = towns
    towns.inverseRelationship = order
    town.properties = [attribute("name"), attribute("normalized"), order]
    index.properties = [attribute("signature"), towns]
    let model = NSManagedObjectModel()
    model.entities = [town, index]
    return model
  }

  private static func attribute(_ name: String) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = .stringAttributeType
    attribute.isOptional = true
    return attribute
  }

  private static func relationship(
    _ name: String, to destination: NSEntityDescription, isToMany: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = isToMany ? 0 : 1
    relationship.isOptional = true
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }
}
