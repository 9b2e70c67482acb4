import Foundation
import OpenCoreData

@testable import ScenarioLanguage

/// Randomly creates, relates, changes, and deletes objects of all entities of a model.
struct RandomWorkload {
  let model: NSManagedObjectModel
  let context: NSManagedObjectContext
  /// The number of successful saves.
  private(set) var saves = 0
  private var number = 0
  private var random: SeededGenerator

  init(model: NSManagedObjectModel, context: NSManagedObjectContext, seed: UInt64) {
    self.model = model
    self.context = context
    random = SeededGenerator(seed: seed, stream: "kinds")
  }

  /// Performs one round of changes and saves; rolls back if validation fails or there's a conflict.
  mutating func round() throws {
    for entity in model.entities where !entity.isAbstract {
      for _ in 0..<2 {
        fill(NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context))
      }
    }
    for object in try objects() {
      if Bool.random(using: &random) { fill(object) }
      try setRelationships(object)
    }
    try save()
    let all = try objects()
    for object in all.shuffled(using: &random).prefix(all.count / 4) { context.delete(object) }
    try save()
  }

  private mutating func save() throws {
    do {
      try context.save()
      saves += 1
    } catch let error as NSError where (1550..<1700).contains(error.code) {
      context.rollback()
    } catch let error as NSError where error.code == 133021 {
      context.rollback()
    }
  }

  private func objects(_ name: String? = nil) throws -> [NSManagedObject] {
    let names =
      name.map { [$0] } ?? model.entities.filter { $0.superentity == nil }.compactMap(\.name)
    return try names.sorted().flatMap { name in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name))
        .filter { !$0.isDeleted }
        .sorted {
          $0.objectID.uriRepresentation().absoluteString
            < $1.objectID.uriRepresentation().absoluteString
        }
    }
  }

  private mutating func setRelationships(_ object: NSManagedObject) throws {
    for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
      let candidates = try objects(relationship.destinationEntity?.name)
        .shuffled(using: &random)
      if !relationship.isToMany {
        let clears = relationship.isOptional && Int.random(in: 0..<4, using: &random) == 0
        object.setValue(clears ? nil : candidates.first, forKey: name)
      } else if Int.random(in: 0..<3, using: &random) == 0 {
        let chosen = Array(candidates.prefix(Int.random(in: 0...4, using: &random)))
        if relationship.isOrdered {
          object.setValue(NSOrderedSet(array: chosen), forKey: name)
        } else {
          object.setValue(Set(chosen), forKey: name)
        }
      }
    }
  }

  private mutating func fill(_ object: NSManagedObject) {
    number += 1
    for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
    where !attribute.isDerived {
      let isEmpty = attribute.isOptional && Int.random(in: 0..<6, using: &random) == 0
      object.setValue(isEmpty ? nil : value(of: attribute), forKey: name)
    }
  }

  private mutating func value(of attribute: NSAttributeDescription) -> Any? {
    if let composite = attribute as? NSCompositeAttributeDescription {
      var values: [String: Any] = [:]
      for element in composite.elements { values[element.name] = value(of: element) }
      return values
    }
    return switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
    case .doubleAttributeType, .floatAttributeType: Double(number) / 4
    case .decimalAttributeType: Decimal(number) / 7
    case .booleanAttributeType: number.isMultiple(of: 2)
    case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(number))
    case .stringAttributeType: "Élan \(number)"
    case .binaryDataAttributeType:
      Data(repeating: 2, count: number.isMultiple(of: 3) ? 120_000 : number % 40)
    case .transformableAttributeType: Data([1, 2, 3])
    case .UUIDAttributeType: UUID()
    case .URIAttributeType: URL(string: "https://example.org/\(number)")
    default: nil
    }
  }
}
