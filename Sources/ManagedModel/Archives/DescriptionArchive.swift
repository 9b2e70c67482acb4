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
    encode(ModelArchive.bytes(of: model), with: coder)
  }

  /// Writes an entity with the entities that it refers to: those of its model.
  static func encode(_ entity: NSEntityDescription, with coder: NSCoder) {
    let graph = graph(of: entity)
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
    carrier.indexes = indexes.map { index in
      let elements = index.elements.compactMap { element in
        element.property.map { property in
          let copy = NSFetchIndexElementDescription(
            property: property, collationType: element.collationType)
          copy.isAscending = element.isAscending
          return copy
        }
      }
      let copy = NSFetchIndexDescription(name: index.name, elements: elements)
      copy.partialIndexPredicate = index.partialIndexPredicate
      copy.unreadTexts = index.unreadTexts
      return copy
    }
    encode(ModelArchive.bytes(of: [carrier]), with: coder)
  }

  private static func encode(_ bytes: [UInt8], with coder: NSCoder) {
    coder.encode(NSData(data: Data(bytes)), forKey: modelKey)
  }

  /// The entities of an entity's model; those that can be reached from it if it isn't in a model.
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

  /// The model in an archive; nil if there isn't one that can be read.
  static func model(_ coder: NSCoder) -> NSManagedObjectModel? {
    guard coder.containsValue(forKey: modelKey),
      let data = coder.decodeObject(of: NSData.self, forKey: modelKey)
    else { return nil }
    return try? ModelArchive.readAll(bytes: Array(Data(referencing: data)))
  }

  /// An archived entity with the model that it's in.
  static func entity(
    _ coder: NSCoder
  ) -> (entity: NSEntityDescription, model: NSManagedObjectModel)? {
    guard let model = model(coder),
      let entity = member(
        of: model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }, coder, entityKey)
    else { return nil }
    return (entity, model)
  }

  /// An archived property and its model.
  ///
  /// A property archived without its entity is in an entity without other content.
  static func property(
    _ coder: NSCoder
  ) -> (property: NSPropertyDescription, model: NSManagedObjectModel)? {
    guard let (entity, model) = entity(coder),
      let property = member(
        of: entity.ownProperties.sorted { $0.name < $1.name }, coder, propertyKey)
    else { return nil }
    if coder.containsValue(forKey: namelessKey) { property.name = "" }
    return (property, model)
  }

  /// An archived index with the model that its properties are in.
  static func index(
    _ coder: NSCoder
  ) -> (index: NSFetchIndexDescription, model: NSManagedObjectModel)? {
    guard let (entity, model) = entity(coder), let index = entity.indexes.first else { return nil }
    return (index, model)
  }

  /// A member by the number under a key; the first without one.
  private static func member<Member>(of list: [Member], _ coder: NSCoder, _ key: String) -> Member?
  {
    let number = coder.containsValue(forKey: key) ? coder.decodeInteger(forKey: key) : 0
    return list.indices.contains(number) ? list[number] : nil
  }
}
