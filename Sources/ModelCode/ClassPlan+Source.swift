import ManagedModel

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
