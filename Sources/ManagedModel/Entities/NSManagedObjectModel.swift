internal import Foundation

/// Describes the data of an application: its entities and their relationships.
///
/// A model is created in code or read from a document, and is mutable until a coordinator uses it.
/// Counterpart: `NSManagedObjectModel`.
///
/// Unchecked sendable because one thread builds a model, which is immutable once it's in use: all
/// lookups have been computed, and every setter traps. A lock guards the localization dictionary.
public final class NSManagedObjectModel: NSObject, @unchecked Sendable {
  /// Whether the model is in use, so that it can't be changed.
  package private(set) var isFrozen = false

  /// The entities of the model, including subentities.
  ///
  /// The model retains them. Setting entities also adds their subentities.
  public var entities: [NSEntityDescription] {
    get { storedEntities }
    set { replaceEntities(with: newValue) }
  }

  private var storedEntities: [NSEntityDescription] = []

  /// The names that the developer gave this version of the model.
  public var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireMutable() } }

  /// The localized names of entities and properties, and localized error messages, or `nil`.
  ///
  /// The keys are `Entity/NAME`, `Property/NAME/Entity/ENTITY`, `Property/NAME`, and
  /// `ErrorString/MESSAGE`. It can be set even if the model is in use, from any thread.
  /// OpenCoreData stores it and doesn't use it: its messages contain the model's own names.
  public var localizationDictionary: [String: String]? {
    get { ModelNotes.lock.withLock { storedLocalization } }
    set {
      var value = newValue
      ModelNotes.lock.withLock { swap(&storedLocalization, &value) }
    }
  }

  private var storedLocalization: [String: String]?

  /// The named fetch requests of the model.
  package var fetchRequestTemplates: [FetchRequestTemplate] = [] { willSet { requireMutable() } }

  /// The reader's warnings: elements of the model that were ignored or read differently.
  package var readerWarnings: [ModelError] = [] { willSet { requireMutable() } }

  /// Core Data's checksum of the model, and the digest of the model that it belongs to.
  package var recordedChecksum: (checksum: String, digest: Data)? { willSet { requireMutable() } }

  private var configurationEntities: [String: [NSEntityDescription]] = [:]
  private var cachedEntitiesByName: [String: NSEntityDescription]?

  /// Creates an empty model.
  public override init() {
    super.init()
  }

  /// Returns whether another object is a model with equal entities, configurations, fetch requests,
  /// and version identifiers.
  ///
  /// Takes time in proportion to the models unless it's the same object.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    return self === other || outline == other.outline
  }

  /// The hash of the number of entities.
  public override var hash: Int { entities.count.hashValue }

  deinit {
    // An entity and its layout retain each other for the lifetime of the model.
    for entity in storedEntities { entity.runtimeLayout = nil }
  }

  /// The entities by name.
  ///
  /// The value is cached until the model changes.
  public var entitiesByName: [String: NSEntityDescription] {
    if let cachedEntitiesByName { return cachedEntitiesByName }
    let made = Dictionary(
      storedEntities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    cachedEntitiesByName = made
    return made
  }

  /// The `configurationName` of a store that contains all entities of its model.
  package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// The names of the configurations, sorted.
  public var configurations: [String] { configurationEntities.keys.sorted() }

  /// Returns the entities of a configuration, or `nil` if the model has no configuration of that
  /// name.
  ///
  /// - Parameter configuration: The name; `nil` or `defaultConfigurationName` for all entities of
  ///   the model.
  public func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else {
      return entities
    }
    return configurationEntities[configuration]
  }

  /// Sets the entities of a configuration, replacing the previous ones.
  ///
  /// Traps if the model is in use or if one of the entities isn't in the model.
  ///
  /// - Parameters:
  ///   - entities: Entities of this model.
  ///   - configuration: The name of the configuration.
  public func setEntities(
    _ entities: [NSEntityDescription], forConfigurationName configuration: String
  ) {
    requireMutable()
    for entity in entities
    where entity.managedObjectModel !== self && !storedEntities.contains(where: { $0 === entity }) {
      fatalError(
        "The entity \(entity.name ?? "") isn't in the model, so no configuration can contain it.")
    }
    configurationEntities[configuration] = entities
  }

  /// Marks the model as in use.
  ///
  /// Changing the model or its elements traps afterward. All lookups are computed first, so any
  /// thread can read the model. Calling this method again has no effect.
  package func freeze() {
    guard !isFrozen else { return }
    _ = entitiesByName
    for entity in storedEntities { entity.freeze() }
    isFrozen = true
  }

  /// Moves the contents of another model, which isn't used afterward, to this one.
  func moveContents(from model: NSManagedObjectModel) {
    let configurations = model.configurations.map { name in
      (name, model.entities(forConfigurationName: name) ?? [])
    }
    let entities = model.entities
    model.entities = []
    self.entities = entities
    for (name, members) in configurations { setEntities(members, forConfigurationName: name) }
    versionIdentifiers = model.versionIdentifiers
    localizationDictionary = model.localizationDictionary
    fetchRequestTemplates = model.fetchRequestTemplates
    readerWarnings = model.readerWarnings
    recordedChecksum = model.recordedChecksum
  }

  /// Removes the lookups.
  func invalidateLookups() {
    cachedEntitiesByName = nil
  }

  private func requireMutable() {
    if isFrozen {
      fatalError("The model is in use. Change a copy of it.")
    }
  }

  private func replaceEntities(with list: [NSEntityDescription]) {
    requireMutable()
    var seen: Set<ObjectIdentifier> = []
    var all: [NSEntityDescription] = []
    var waiting = list[...]
    while let entity = waiting.popFirst() {
      guard seen.insert(ObjectIdentifier(entity)).inserted else { continue }
      all.append(entity)
      waiting.append(contentsOf: entity.subentities)
    }
    for entity in storedEntities { entity.managedObjectModel = nil }
    storedEntities = all
    for entity in all { entity.managedObjectModel = self }
    configurationEntities = configurationEntities.mapValues { entities in
      entities.filter { seen.contains(ObjectIdentifier($0)) }
    }
    invalidateLookups()
  }
}

/// Guards the values that can be set on a model in use: `userInfo` and the localization dictionary.
///
/// One lock serves all models, because these values are rarely read. A setter swaps its value in,
/// so that the old one is released outside of the lock.
enum ModelNotes {
  static let lock = NSLock()
}
