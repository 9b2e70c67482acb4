import Moody
import OpenCoreData

/// The store types that the sample is tested with.
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

/// A store in a temporary folder, and contexts for it.
final class MoodyStack {
  let kind: StoreKind
  let coordinator: NSPersistentStoreCoordinator
  private let folder: URL

  /// Creates an empty store with the sample's model or another one.
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

  /// Returns a new private queue context.
  func context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Returns a context of a new coordinator, whose row cache is empty.
  ///
  /// An in-memory store can't be opened again, so its context has the same coordinator.
  func coldContext() throws -> NSManagedObjectContext {
    guard kind != .memory else { return context() }
    let cold = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    try cold.addPersistentStore(type: kind.type, at: storeURL)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = cold
    return context
  }

  /// The number of SELECTs for the kind of store: `count` for SQLite, 0 for the others.
  func selects(_ count: Int) -> Int { kind == .sqlite ? count : 0 }
}

extension NSManagedObjectContext {
  /// Returns the country with a code; creates it and its continent if they don't exist.
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

/// Keeps the last did-save notification of a context.
final class SaveNotifications: @unchecked Sendable {
  // Set on the context's queue while the test waits for the save.
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

/// A model with named objects and their stored order, for tests of strings.
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
