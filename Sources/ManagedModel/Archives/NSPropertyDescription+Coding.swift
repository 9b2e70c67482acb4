internal import Foundation

// Archives are read by `NSKeyedUnarchiver`. Core Data's own archives of models are `.mom` files,
// which `NSManagedObjectModel(contentsOf:)` reads.

extension NSManagedObjectModel: NSSecureCoding {
  /// True: an archive of a model contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the model in the form of a compiled model.
  ///
  /// What compiled models leave out is lost: values of `userInfo` and default values that aren't
  /// property-list values, UUIDs, URLs, or decimals, and settings of the model editor. Takes time
  /// in proportion to the model.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Reads a model; nil, which the unarchiver reports as an error, for bytes that aren't one.
  ///
  /// The model can be changed.
  public convenience init?(coder: NSCoder) {
    guard let model = DescriptionArchive.model(coder) else { return nil }
    self.init()
    takeOver(model)
  }
}

extension NSEntityDescription: NSSecureCoding {
  /// True: an archive of an entity contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the entity with all entities of its model.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Reads an entity; nil, which the unarchiver reports as an error, for bytes that aren't one.
  ///
  /// The entity isn't in a model. It retains the other entities that were archived with it.
  public convenience init?(coder: NSCoder) {
    guard let (entity, model) = DescriptionArchive.entity(coder) else { return nil }
    self.init()
    takePlace(of: entity, in: model)
  }

  /// Takes the place of an entity in a model that isn't used afterward.
  private func takePlace(of other: NSEntityDescription, in model: NSManagedObjectModel) {
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
  /// True: an archive of a property contains no objects of other classes.
  public class var supportsSecureCoding: Bool { true }

  /// Writes the property: a relationship with all entities of its model, others by themselves.
  public final func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Takes the values of an archived property; nil for bytes that aren't one of the same class.
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
  /// True: an archive of an index contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the index with the properties that it covers.
  public func encode(with coder: NSCoder) {
    DescriptionArchive.encode(self, with: coder)
  }

  /// Reads an index; nil, which the unarchiver reports as an error, for bytes that aren't one.
  ///
  /// It belongs to no entity.
  public convenience init?(coder: NSCoder) {
    guard let (index, _) = DescriptionArchive.index(coder) else { return nil }
    self.init(name: index.name, elements: index.elements)
    partialIndexPredicate = index.partialIndexPredicate
    unreadTexts = index.unreadTexts
  }
}

extension NSFetchIndexElementDescription: NSSecureCoding {
  /// True: an archive of an index element contains no objects of other classes.
  public static var supportsSecureCoding: Bool { true }

  /// Writes the element with the property that it covers.
  public func encode(with coder: NSCoder) {
    guard let property else { return }
    let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
    copy.isAscending = isAscending
    let index = NSFetchIndexDescription(name: propertyName ?? "", elements: [copy])
    DescriptionArchive.encode(index, with: coder)
  }

  /// Reads an index element; nil, which the unarchiver reports as an error, for bytes that aren't
  /// one.
  ///
  /// It belongs to no index.
  public convenience init?(coder: NSCoder) {
    guard let (index, _) = DescriptionArchive.index(coder), let element = index.elements.first,
      let property = element.property
    else { return nil }
    self.init(property: property, collationType: element.collationType)
    isAscending = element.isAscending
  }
}
