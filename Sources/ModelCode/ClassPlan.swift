import ManagedModel

/// A class to generate: its entity, its superclass, and the properties that it declares.
struct ClassPlan {
  let name: String
  /// The class name in the model, including its module if it has one.
  let registeredName: String
  let entity: NSEntityDescription
  /// The class of the nearest ancestor with its own class, or `nil` for `NSManagedObject`.
  let parent: String?
  let properties: [PropertyPlan]
  /// The fetched properties that it would declare, which are left out.
  let fetchedProperties: [NSFetchedPropertyDescription]

  /// The properties that have a slot in the row.
  var slots: [PropertyPlan] {
    properties.filter { $0.slot != nil }
      .sorted { ($0.slot?.index ?? 0) < ($1.slot?.index ?? 0) }
  }
}

/// The Swift class names of a model's entities.
///
/// If no entity of a model specifies a class, each one gets a class with the name of the entity.
struct ClassNames {
  /// Whether the classes are named after the entities because the model specifies none.
  let areAssigned: Bool

  init(_ model: NSManagedObjectModel) {
    areAssigned = model.entities.allSatisfy { ClassNames.given($0) == nil }
  }

  /// Returns the class name of an entity, or `nil` if its objects are plain managed objects.
  subscript(entity: NSEntityDescription) -> String? {
    guard areAssigned else { return ClassNames.given(entity) }
    return entity.name.map { SwiftNames.types.contains($0) ? $0 + "Object" : $0 }
  }

  /// Returns the last component of the class name in the model, such as of `Shop.Order`.
  private static func given(_ entity: NSEntityDescription) -> String? {
    guard let full = entity.managedObjectClassName, full != "NSManagedObject" else { return nil }
    let name = full.split(separator: ".").last.map(String.init) ?? ""
    return name.isEmpty ? nil : name
  }
}

extension ClassPlan {
  /// Writes the class without its properties.
  func writeClass(to source: inout SourceLines) {
    let kind = entity.isAbstract ? "What subentities of" : "An object of"
    source.comment("\(kind) the entity `\(entity)`\(entity.isAbstract ? " have in common" : "").")
    let parent = parent.map(SwiftNames.quoted) ?? "NSManagedObject"
    source.line("public class \(SwiftNames.quoted(name)): \(parent) {}")
  }

  /// Writes the extensions with the properties and with their slots in a row, and, as Xcode does,
  /// the conformance to `Identifiable`, which a subclass inherits.
  func writeProperties(to source: inout SourceLines) {
    source.block("extension \(SwiftNames.quoted(name))") { source in
      writeFetchRequest(to: &source)
      for property in properties {
        source.gap()
        property.write(to: &source)
      }
    }
    for property in properties {
      guard case .toMany(let element, let isOrdered) = property.type else { continue }
      source.gap()
      property.writeMutators(
        of: name, element: element, isOrdered: isOrdered, to: &source)
    }
    source.gap()
    source.block("extension \(SwiftNames.quoted(name))") { writeSlots(to: &$0) }
    if parent == nil {
      source.gap()
      source.line("extension \(SwiftNames.quoted(name)): Identifiable {}")
    }
  }

  private func writeFetchRequest(to source: inout SourceLines) {
    let request = "NSFetchRequest<\(SwiftNames.quoted(name))>"
    source.comment("A request for all objects of the entity `\(entity)`.")
    source.block("@nonobjc public class func fetchRequest()", returning: request) { source in
      source.call(request, ["entityName: \(SwiftNames.literal(entity.name ?? ""))"])
    }
  }

  private func writeSlots(to source: inout SourceLines) {
    source.comment(
      "The locations of values in a row.",
      "Compared with the loaded entity once; properties that differ are accessed by name.")
    source.block("enum Slots") { source in
      for property in slots {
        if let exception = SwiftNames.lintException(for: property.name) { source.line(exception) }
        let number = property.slot ?? (0, 0)
        source.call(
          "static let \(SwiftNames.quoted(property.slotName)) = PropertySlot<\(property.type.text)>",
          [
            "\(number.index)", "offset: \(number.offset)",
            SwiftNames.literal(property.property.name),
          ])
      }
      source.gap()
      let names = slots.map { "\(SwiftNames.quoted($0.slotName)).declaration" }
      switch names.count {
      case 0: source.line("static let declarations: [SlotDeclaration] = []")
      case 1: source.line("static let declarations: [SlotDeclaration] = [\(names[0])]")
      default:
        source.line("static let declarations: [SlotDeclaration] = [")
        for name in names { source.line("  \(name),") }
        source.line("]")
      }
    }
  }
}

/// A property of a class to generate.
struct PropertyPlan {
  let property: NSPropertyDescription
  /// The name in Swift, without backticks.
  let name: String
  /// The type of the accessor.
  let type: SwiftType
  /// The index and offset of the property's slot, or `nil` if generated code doesn't read one.
  let slot: (index: Int, offset: Int)?
  /// The name of the slot, which differs from that of the list of slots.
  var slotName: String
}

extension PropertyPlan {
  /// The name of the list of a class's slots.
  static let slotList = "declarations"

  /// Writes the property and, for a to-many relationship, its lazily read counterpart.
  func write(to source: inout SourceLines) {
    let key = SwiftNames.literal(property.name)
    switch type {
    case .scalar, .optional, .toOne:
      guard slot != nil else {
        return declare(
          get: "value(forKey: \(key)) as? \(type.wrapped)\(type.fallback)",
          set: "setValue(newValue, forKey: \(key))", to: &source)
      }
      let slot = "self[Slots.\(SwiftNames.quoted(slotName))]"
      declare(get: slot, set: "\(slot) = newValue", to: &source)
    case .any(let type):
      declare(
        get: type == "Any" ? "value(forKey: \(key))" : "value(forKey: \(key)) as? \(type)",
        set: "setValue(newValue, forKey: \(key))", to: &source)
    case .toMany(let element, let isOrdered):
      let objects = isOrdered ? "array" : "set"
      declare(
        get: "\(SwiftNames.quoted(lazyName)).\(objects)",
        set: "\(SwiftNames.quoted(lazyName)).\(objects) = newValue", to: &source)
      source.gap()
      writeException(for: lazyName, to: &source)
      source.comment("`\(property.name)`, loaded when it's first used.")
      source.block("public var \(lazyName): RelatedObjects<\(SwiftNames.quoted(element))>") {
        $0.call("RelatedObjects", ["of: self", key])
      }
    }
  }

  private func declare(get: String, set: String, to source: inout SourceLines) {
    writeException(for: name, to: &source)
    source.comment(summary, details)
    source.block("public var \(SwiftNames.quoted(name)): \(type.text)") { source in
      source.accessor("get", get)
      source.accessor("set", set)
    }
  }

  func writeException(for name: String, to source: inout SourceLines) {
    if let exception = SwiftNames.lintException(for: name) { source.line(exception) }
  }

  var lazyName: String { SwiftNames.lazy(name) }

  private var summary: String {
    switch property {
    case let attribute as NSAttributeDescription:
      var words = ["`\(property.name)`", attribute.attributeType.documentName]
      if attribute.isTransient { words.append("not stored") }
      if attribute.isDerived { words.append("derived by the store") }
      return words.joined(separator: ", ") + "."
    case let relationship as NSRelationshipDescription:
      let destination = relationship.destinationEntity?.name ?? ""
      let inverse = relationship.inverseRelationship.map { ", the inverse of `\($0)`" } ?? ""
      let order = relationship.isOrdered ? "ordered " : ""
      let kind = relationship.isToMany ? "\(order)to-many" : "to-one"
      return "`\(property.name)`, \(kind) relationship to `\(destination)`\(inverse)."
    default: return "`\(property.name)`."
    }
  }

  private var details: String? {
    if name != property.name {
      let isReserved =
        !SwiftNames.isIdentifier(property.name) || SwiftNames.taken.contains(property.name)
      return isReserved
        ? "Named `\(name)` because the property's name is reserved by Swift or `NSManagedObject`."
        : "Named `\(name)` because another member of the class has the property's name."
    }
    if case .toMany = type {
      return
        "Reading it fires the relationship fault, which costs a SELECT, and copies the collection."
    }
    return nil
  }
}

extension SwiftType {
  fileprivate var wrapped: String {
    switch self {
    case .scalar(let name), .optional(let name), .toOne(let name), .any(let name): name
    case .toMany: text
    }
  }

  /// The value that replaces `nil`.
  fileprivate var fallback: String {
    guard case .scalar(let name) = self else { return "" }
    return name == "Bool" ? " ?? false" : " ?? 0"
  }
}

extension PropertyPlan {
  /// Writes the methods that change a to-many relationship one object at a time, with Xcode's
  /// names.
  func writeMutators(
    of className: String, element: String, isOrdered: Bool, to source: inout SourceLines
  ) {
    let element = SwiftNames.quoted(element)
    let many = isOrdered ? "[\(element)]" : "Set<\(element)>"
    let word = SwiftNames.capitalized(name)
    let objects = SwiftNames.quoted(lazyName)
    var methods: [(doc: String, name: String, arguments: [String], body: String)] = [
      (
        isOrdered ? "Adds an object at the end." : "Adds an object.", "addTo\(word)",
        ["_ value: \(element)"], "insert(value)"
      ),
      ("Removes an object.", "removeFrom\(word)", ["_ value: \(element)"], "remove(value)"),
      ("Adds objects.", "addTo\(word)", ["_ values: \(many)"], "formUnion(values)"),
      ("Removes objects.", "removeFrom\(word)", ["_ values: \(many)"], "subtract(values)"),
    ]
    if isOrdered {
      methods += [
        (
          "Inserts an object at an index.", "insertInto\(word)",
          ["_ value: \(element)", "at index: Int"], "insert(value, at: index)"
        ),
        (
          "Removes the object at an index.", "removeFrom\(word)", ["at index: Int"],
          "remove(at: index)"
        ),
        (
          "Replaces the object at an index.", "replace\(word)",
          ["at index: Int", "with value: \(element)"], "replace(at: index, with: value)"
        ),
        (
          "Inserts objects at indexes.", "insertInto\(word)",
          ["_ values: \(many)", "at indexes: IndexSet"], "insert(values, at: indexes)"
        ),
        (
          "Removes the objects at indexes.", "removeFrom\(word)", ["at indexes: IndexSet"],
          "remove(at: indexes)"
        ),
        (
          "Replaces the objects at indexes.", "replace\(word)",
          ["at indexes: IndexSet", "with values: \(many)"], "replace(at: indexes, with: values)"
        ),
      ]
    }
    source.block("extension \(SwiftNames.quoted(className))") { source in
      for method in methods {
        source.gap()
        writeException(for: method.name, to: &source)
        source.comment(method.doc)
        source.block("public func \(method.name)", method.arguments, "") {
          $0.line("\(objects).\(method.body)")
        }
      }
    }
  }
}
