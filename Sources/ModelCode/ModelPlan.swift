import ManagedModel

/// The classes to generate for a model, with superclasses before subclasses.
struct ModelPlan {
  /// The name of the type that registers the classes.
  let name: String
  let classes: [ClassPlan]
  /// The entities that share the class of an ancestor, which has none of their own properties.
  let sharingEntities: [NSEntityDescription]
  /// Whether the model specifies no classes, so that they have to be set before it's used.
  let assignsClasses: Bool

  /// Determines all names and types.
  ///
  /// - Throws: An error for each class that two unrelated entities use or whose name isn't valid in
  ///   Swift, and for a model without entities.
  init(_ model: NSManagedObjectModel, name: String, file: String) throws(ModelErrors) {
    let names = ClassNames(model)
    var errors: [ModelError] = []
    var owners: [String: NSEntityDescription] = [:]
    var sharing: [NSEntityDescription] = []
    let entities = model.entities.sorted { ($0.depth, $0.name ?? "") < ($1.depth, $1.name ?? "") }
    for entity in entities {
      guard let name = names[entity] else { continue }
      if !SwiftNames.isIdentifier(name) || SwiftNames.types.contains(name) {
        errors.append(
          ModelError(
            SwiftNames.types.contains(name)
              ? "A class can't be named \(name), because that's the name of a type that properties use."
              : "A class can't be named \(name), because that isn't an identifier in Swift.",
            nextStep: "Choose another class name.", entity: entity.name, file: file))
      } else if let owner = owners[name] {
        // A descendant of its owner shares the class unchanged; other entities would have different
        // properties.
        guard !entity.isKind(of: owner) else {
          sharing.append(entity)
          continue
        }
        errors.append(
          ModelError(
            "The class \(name) already belongs to the entity \(owner).",
            nextStep: "Give each entity its own class.", entity: entity.name, file: file))
      } else {
        owners[name] = entity
      }
    }
    if owners.isEmpty, errors.isEmpty {
      errors.append(
        ModelError(
          "The model has no entities.", nextStep: "Add one, or specify another model.", file: file))
    }
    guard errors.isEmpty else { throw ModelErrors(errors) }
    sharingEntities = sharing
    // The names of the members of each class, including inherited ones.
    var members: [String: Set<String>] = [:]
    classes = entities.compactMap { entity in
      guard let name = names[entity], owners[name] === entity else { return nil }
      let plan = ClassPlan(entity, name: name, names: names, owners: owners, members: members)
      members[name] = plan.memberNames.union(plan.parent.flatMap { members[$0] } ?? [])
      return plan
    }
    assignsClasses = names.areAssigned
    let typeName = ModelPlan.typeName(name)
    self.name =
      owners[typeName] == nil
      ? typeName : SwiftNames.free(typeName + "Classes") { owners[$0] != nil }
  }

  private static func typeName(_ name: String) -> String {
    let plain = SwiftNames.capitalized(SwiftNames.identifier(name))
    if plain.hasPrefix("_") { return "Model" + plain.drop { $0 == "_" } }
    return plain.hasSuffix("Model") ? plain : plain + "Model"
  }
}

extension ClassPlan {
  fileprivate init(
    _ entity: NSEntityDescription, name: String, names: ClassNames,
    owners: [String: NSEntityDescription], members: [String: Set<String>]
  ) {
    self.name = name
    self.entity = entity
    registeredName = names.areAssigned ? name : entity.managedObjectClassName
    // Properties of ancestors without their own class are declared here.
    var declaring: [NSEntityDescription] = [entity]
    var next = entity.superentity
    while let ancestor = next, names[ancestor].map({ owners[$0] !== ancestor }) ?? true {
      declaring.append(ancestor)
      next = ancestor.superentity
    }
    parent = next.flatMap { names[$0] }
    let geometry = SlotGeometry(entity)
    let own = declaring.reversed().flatMap(\.ownProperties)
    fetchedProperties = own.compactMap { $0 as? NSFetchedPropertyDescription }
    // An inherited property isn't renamed, so that a relationship must be, with its counterpart.
    var lazyTaken = SwiftNames.taken.union(parent.flatMap { members[$0] } ?? [])
    var taken = lazyTaken.union(ClassPlan.lazyNames(of: own))
    let wanted = Set(own.map { SwiftNames.identifier($0.name) })
    var plans = own.compactMap { property -> PropertyPlan? in
      guard let type = SwiftType(property, names) else { return nil }
      let hasLazy = (property as? NSRelationshipDescription)?.isToMany == true
      func isTaken(_ name: String) -> Bool {
        taken.contains(name) || hasLazy && lazyTaken.contains(SwiftNames.lazy(name))
      }
      var name = SwiftNames.identifier(property.name)
      if isTaken(name) {
        let other = name + "Property"
        name = other
        var number = 2
        while isTaken(name) || wanted.contains(name) {
          name = "\(other)\(number)"
          number += 1
        }
      }
      if hasLazy {
        lazyTaken.insert(SwiftNames.lazy(name))
        taken.insert(SwiftNames.lazy(name))
      }
      taken.insert(name)
      let index = geometry.properties.firstIndex { $0 === property }
      return PropertyPlan(
        property: property, name: name, type: type,
        slot: type.hasSlot ? index.map { ($0, geometry.offsets[$0]) } : nil, slotName: name)
    }
    if let index = plans.firstIndex(where: { $0.name == PropertyPlan.slotList }) {
      let others = Set(plans.map(\.name))
      plans[index].slotName = SwiftNames.free(PropertyPlan.slotList + "Value") {
        others.contains($0)
      }
    }
    properties = plans.sorted { $0.name < $1.name }
  }
}

extension ClassPlan {
  /// The names in Swift of the properties, and of the lazily read counterparts of relationships.
  fileprivate var memberNames: Set<String> {
    var names = Set(properties.map(\.name))
    for property in properties {
      if case .toMany = property.type { names.insert(property.lazyName) }
    }
    return names
  }

  /// Returns the names of the lazily read counterparts of the to-many relationships.
  fileprivate static func lazyNames(of properties: [NSPropertyDescription]) -> [String] {
    properties.compactMap { property in
      guard let relationship = property as? NSRelationshipDescription, relationship.isToMany else {
        return nil
      }
      return SwiftNames.lazy(SwiftNames.identifier(relationship.name))
    }
  }
}

extension SwiftType {
  /// Creates the type of a property, or returns `nil` for a fetched property and for a relationship
  /// without a destination.
  fileprivate init?(_ property: NSPropertyDescription, _ names: ClassNames) {
    if let attribute = property as? NSAttributeDescription {
      self.init(attribute)
    } else if let relationship = property as? NSRelationshipDescription,
      let destination = relationship.destinationEntity
    {
      let name = names[destination].map(SwiftNames.quoted)
      self.init(relationship, destination: name ?? "NSManagedObject")
    } else {
      return nil
    }
  }

  fileprivate var hasSlot: Bool {
    switch self {
    case .scalar, .optional, .toOne: true
    case .toMany, .any: false
    }
  }
}

extension NSEntityDescription {
  fileprivate var depth: Int {
    var depth = 0
    var next = superentity
    while let entity = next {
      depth += 1
      next = entity.superentity
    }
    return depth
  }
}
