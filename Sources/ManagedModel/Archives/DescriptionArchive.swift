internal import Foundation

/// The representation of models and descriptions in an `NSKeyedArchiver` archive: the bytes of a
/// compiled model, and the part of it that was archived.
///
/// The bytes are one object of the archive, so an untrusted archive is read only by `ModelArchive`,
/// which enforces limits.
enum DescriptionArchive {
  private static let modelKey = "cdprof.model"
  private static let entityKey = "cdprof.entity"
  private static let propertyKey = "cdprof.property"
  private static let namelessKey = "cdprof.isNameless"
  /// The name of the entity that contains a property or index archived without its entity.
  private static let carrierName = "cdprof.archived"
  private static let placeholder = "_"

  // MARK: Writing

  static func encode(_ model: NSManagedObjectModel, with coder: NSCoder) {
    checkOrders(of: model.fetchRequestTemplates)
    checkOrders(of: model.entities.flatMap(\.ownProperties))
    encode(ModelArchive.bytes(of: model), with: coder)
  }

  /// Writes an entity with the entities that it refers to: those of its model.
  static func encode(_ entity: NSEntityDescription, with coder: NSCoder) {
    let graph = graph(of: entity)
    checkOrders(of: graph.flatMap(\.ownProperties))
    encode(ModelArchive.bytes(of: graph), with: coder)
    coder.encode(index(of: entity, in: graph), forKey: entityKey)
  }

  /// Writes a property: a relationship with the entities that it refers to, others by themselves.
  static func encode(_ property: NSPropertyDescription, with coder: NSCoder) {
    guard property is NSRelationshipDescription, let entity = property.entity else {
      return encode([property], indexes: [], with: coder)
    }
    encode(entity, with: coder)
    let names = entity.ownProperties.map(\.name).sorted()
    coder.encode(names.firstIndex(of: property.name) ?? 0, forKey: propertyKey)
  }

  /// Writes an index with the properties that it covers.
  static func encode(_ index: NSFetchIndexDescription, with coder: NSCoder) {
    encode(index.elements.compactMap(\.property), indexes: [index], with: coder)
  }

  /// Writes properties and their indexes as an entity without other content.
  private static func encode(
    _ properties: [NSPropertyDescription], indexes: [NSFetchIndexDescription],
    with coder: NSCoder
  ) {
    checkOrders(of: properties)
    let carrier = NSEntityDescription()
    carrier.name = carrierName
    var copies: [String: NSPropertyDescription] = [:]
    for property in properties where copies[property.name] == nil {
      copies[property.name] = property.bareCopy()
    }
    if let nameless = copies[""] {
      nameless.name = placeholder
      coder.encode(1, forKey: namelessKey)
    }
    carrier.properties = Array(copies.values)
    carrier.indexes = indexes.map { index in index.copy { $0 } }
    encode(ModelArchive.bytes(of: [carrier]), with: coder)
  }

  private static func encode(_ bytes: [UInt8], with coder: NSCoder) {
    coder.encode(NSData(data: Data(bytes)), forKey: modelKey)
  }

  private static func checkOrders(of properties: [NSPropertyDescription]) {
    checkOrders(of: properties.compactMap { ($0 as? NSFetchedPropertyDescription)?.template })
  }

  /// Stops with a fatal error for a fetch request that is sorted with a comparator, which would be
  /// another order in the archive.
  private static func checkOrders(of requests: [FetchRequestTemplate]) {
    for request in requests {
      guard request.sortDescriptors.contains(where: { $0.comparison == nil }) else { continue }
      fatalError(
        "the fetch request \(request.name) is sorted with a comparator block, which can't be archived"
      )
    }
  }

  /// Returns the entities of an entity's model, or those that can be reached from the entity if it
  /// isn't in a model.
  private static func graph(of entity: NSEntityDescription) -> [NSEntityDescription] {
    if let model = entity.managedObjectModel { return model.entities }
    var seen: Set<ObjectIdentifier> = []
    var found: [NSEntityDescription] = []
    var waiting = [entity]
    while let next = waiting.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      found.append(next)
      waiting += next.subentities
      if let parent = next.superentity { waiting.append(parent) }
      waiting += next.ownProperties.compactMap {
        ($0 as? NSRelationshipDescription)?.destinationEntity
      }
    }
    return found
  }

  private static func index(
    of entity: NSEntityDescription, in graph: [NSEntityDescription]
  ) -> Int {
    graph.map { $0.name ?? "" }.sorted().firstIndex(of: entity.name ?? "") ?? 0
  }

  // MARK: Reading

  /// Returns the model in an archive, or `nil` if there isn't one that can be read.
  static func model(_ coder: NSCoder) -> NSManagedObjectModel? {
    guard coder.containsValue(forKey: modelKey),
      let data = coder.decodeObject(of: NSData.self, forKey: modelKey)
    else { return nil }
    return try? ModelArchive.readAll(bytes: Array(Data(referencing: data)))
  }

  /// Returns an archived entity and the model that it's in.
  static func entity(
    _ coder: NSCoder
  ) -> (entity: NSEntityDescription, model: NSManagedObjectModel)? {
    guard let model = model(coder),
      let entity = member(
        of: model.entities.sortedByName(), coder, entityKey)
    else { return nil }
    return (entity, model)
  }

  /// Returns an archived property and its model.
  ///
  /// A property archived without its entity is in an entity without other content.
  static func property(
    _ coder: NSCoder
  ) -> (property: NSPropertyDescription, model: NSManagedObjectModel)? {
    guard let (entity, model) = entity(coder),
      let property = member(
        of: entity.ownProperties.sortedByName(), coder, propertyKey)
    else { return nil }
    if coder.containsValue(forKey: namelessKey) { property.name = "" }
    return (property, model)
  }

  /// Returns an archived index and the model that its properties are in.
  static func index(
    _ coder: NSCoder
  ) -> (index: NSFetchIndexDescription, model: NSManagedObjectModel)? {
    guard let (entity, model) = entity(coder), let index = entity.indexes.first else { return nil }
    return (index, model)
  }

  /// Returns the member whose index is stored under a key, or the first one if there's no index.
  private static func member<Member>(of list: [Member], _ coder: NSCoder, _ key: String) -> Member?
  {
    let number = coder.containsValue(forKey: key) ? coder.decodeInteger(forKey: key) : 0
    return list.indices.contains(number) ? list[number] : nil
  }
}

// Archives are read by `NSKeyedUnarchiver`. Core Data's own archives of models are `.mom` files,
// which `NSManagedObjectModel(contentsOf:)` reads.

extension NSManagedObjectModel: NSSecureCoding {
  /// Whether the class supports secure coding.
  ///
  /// Always true: an archive of a model contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Encodes the model in the form of a compiled model.
  ///
  /// Content that compiled models omit is lost: values of `userInfo` and default values that aren't
  /// property-list values, UUIDs, URLs, or decimals, and settings of the model editor. Traps for a
  /// fetch request that is sorted with a comparator, where Foundation raises an exception. Takes
  /// time in proportion to the model.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Decodes a model.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't a model. The
  /// model can be changed.
  public convenience init?(coder: NSCoder) {
    guard let model = DescriptionArchive.model(coder) else { return nil }
    self.init()
    moveContents(from: model)
  }
}

extension NSEntityDescription: NSSecureCoding {
  /// Whether the class supports secure coding.
  ///
  /// Always true: an archive of an entity contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Encodes the entity with all entities of its model.
  ///
  /// Traps for a fetched property that is sorted with a comparator.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Decodes an entity.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't an entity. The
  /// entity isn't in a model. It retains the other entities that were archived with it.
  public convenience init?(coder: NSCoder) {
    guard let (entity, model) = DescriptionArchive.entity(coder) else { return nil }
    self.init()
    replace(entity, in: model)
  }

  /// Replaces an entity in a model that isn't used afterward.
  private func replace(_ other: NSEntityDescription, in model: NSManagedObjectModel) {
    let graph = model.entities.filter { $0 !== other }
    model.entities = []
    takeValues(from: other)
    let (parent, children) = (other.superentity, other.subentities)
    other.subentities = []
    parent?.subentities.removeAll { $0 === other }
    // The parent doesn't list this entity, which would be a retain cycle.
    superentity = parent
    subentities = children
    let (properties, indexes) = (other.ownProperties, other.indexes)
    other.properties = []
    other.indexes = []
    self.properties = properties
    self.indexes = indexes
    uniquenessConstraints = other.uniquenessConstraints
    compoundIndexes = other.compoundIndexes
    for entity in graph + [self] {
      for case let relationship as NSRelationshipDescription in entity.ownProperties
      where relationship.destinationEntity === other {
        relationship.destinationEntity = self
      }
    }
    archivedEntities = graph.filter { !$0.isKind(of: self) }
  }
}

extension NSPropertyDescription: NSSecureCoding {
  /// Whether the class supports secure coding.
  ///
  /// Always true: an archive of a property contains no objects of other classes.
  public class var supportsSecureCoding: Bool { true }

  /// Encodes the property: a relationship with all entities of its model, others by themselves.
  ///
  /// Traps for a fetched property that is sorted with a comparator.
  public final func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Copies the values of an archived property.
  ///
  /// Returns false if the bytes aren't a property of the same class.
  final func takeValues(from coder: NSCoder) -> Bool {
    guard let (property, model) = DescriptionArchive.property(coder),
      type(of: property) == type(of: self) || type(of: self) == NSPropertyDescription.self
    else { return false }
    takeValues(from: property)
    guard let own = self as? NSRelationshipDescription,
      let other = property as? NSRelationshipDescription, other.destinationEntity != nil
    else { return true }
    own.destinationEntity = other.destinationEntity
    own.inverseRelationship = other.inverseRelationship
    own.inverseRelationship?.inverseRelationship = own
    own.entity = other.entity
    own.archivedEntities = model.entities
    return true
  }
}

extension NSFetchIndexDescription: NSSecureCoding {
  /// Whether the class supports secure coding.
  ///
  /// Always true: an archive of an index contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Encodes the index with the properties that it covers.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Decodes an index.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't an index. The
  /// index doesn't belong to an entity.
  public convenience init?(coder: NSCoder) {
    guard let (index, _) = DescriptionArchive.index(coder) else { return nil }
    self.init(name: index.name, elements: index.elements)
    partialIndexPredicate = index.partialIndexPredicate
    unreadTexts = index.unreadTexts
  }
}

extension NSFetchIndexElementDescription: NSSecureCoding {
  /// Whether the class supports secure coding.
  ///
  /// Always true: an archive of an index element contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Encodes the element with the property that it covers.
  public func encode(with coder: NSCoder) {
    guard let property else { return }
    let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
    copy.isAscending = isAscending
    let index = NSFetchIndexDescription(name: propertyName ?? "", elements: [copy])
    DescriptionArchive.encode(index, with: coder)
  }

  /// Decodes an index element.
  ///
  /// Returns `nil`, which the unarchiver reports as an error, if the bytes aren't an index element.
  /// The element doesn't belong to an index.
  public convenience init?(coder: NSCoder) {
    guard let (index, _) = DescriptionArchive.index(coder), let element = index.elements.first,
      let property = element.property
    else { return nil }
    self.init(property: property, collationType: element.collationType)
    isAscending = element.isAscending
  }
}
