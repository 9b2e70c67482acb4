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
  /// A Boolean value that indicates whether the classes are named after the entities because the
  /// model specifies none.
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
    source.line("public class \(SwiftNames.quoted(name)): \(parent ?? "NSManagedObject") {}")
  }

  /// Writes the extension with the properties, and the one with their slots in a row.
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
      "Where the values lie in a row.",
      "Compared with the loaded entity once; where they differ, the properties go by name.")
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
