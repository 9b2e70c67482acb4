import ManagedModel
import Testing

@testable import CoreDataCosts

/// A checked migration and an inferred mapping match names in code of their own, because exported
/// programs contain that of checked migrations.
@Suite("What entities and properties become in a checked migration")
struct MigrationSuccessorsTests {
  private enum Kind: CaseIterable {
    case text
    case data
    case externalData
  }

  /// An entity or attribute of a version.
  private struct Member {
    let name: String
    let identifier: String?
    let kind: Kind

    /// All versions with at most one member of each of two names.
    static func versions(_ kinds: [Kind]) -> [[Member]] {
      choices("a", kinds).flatMap { first in choices("b", kinds).map { first + $0 } }
    }

    private static func choices(_ name: String, _ kinds: [Kind]) -> [[Member]] {
      let identifiers: [String?] = [nil] + ["a", "b", "c"].filter { $0 != name }
      let members: [[Member]] = identifiers.flatMap { identifier in
        kinds.map { [Member(name: name, identifier: identifier, kind: $0)] }
      }
      return [[]] + members
    }

    var entity: NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = name
      entity.renamingIdentifier = identifier
      return entity
    }

    var attribute: NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.renamingIdentifier = identifier
      attribute.attributeType = kind == .text ? .stringAttributeType : .binaryDataAttributeType
      attribute.allowsExternalBinaryDataStorage = kind == .externalData
      attribute.isOptional = true
      return attribute
    }
  }

  private static func model(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  @Test("Entities become what an inferred mapping maps them to, whichever names were used before")
  func entitiesAreThoseOfInferredMappings() {
    let models = Member.versions([.text]).map { members in Self.model(members.map { $0.entity }) }
    for old in models {
      for new in models {
        let mapping = InferredMapping(from: old, to: new)
        let expected = old.entities.map { entity in
          mapping.entities.first { $0.source === entity }?.destination?.name
        }
        let successors = MigrationSuccessors(of: old, in: [new], nil)
        let found = old.entities.map { successors.entities(of: $0)?.first?.name }
        #expect(found == expected, "\(old.entities) \(new.entities)")
      }
    }
  }

  @Test("Attributes are kept if an inferred mapping keeps them, whichever names were used before")
  func attributesAreThoseOfInferredMappings() {
    let models = Member.versions(Kind.allCases).map { members in
      let mood = NSEntityDescription()
      mood.name = "Mood"
      mood.properties = members.map { $0.attribute }
      return Self.model([mood])
    }
    for old in models {
      for new in models {
        let properties = InferredMapping(from: old, to: new).entities.flatMap { $0.properties }
        let kept = properties.filter { $0.destination != nil }.compactMap { $0.source?.name }
        let successors = MigrationSuccessors(of: old, in: [new], nil)
        let found = successors.storedProperties(of: old.entities[0], in: new.entities)
        #expect(found == Set(kept), "\(old.entities) \(new.entities)")
      }
    }
  }
}
