import Foundation
import OpenCoreData
import RunResults
import ScenarioLanguage

/// Collects the values that the steps of a session read.
final class ReadValues {
  private(set) var reads: [String: Set<Int>] = [:]
  /// The hashes of the objects that were read or passed on a key path, by entity.
  private(set) var passed: [String: Set<Int>] = [:]

  /// Adds the value that was read from a property of an object, which is also passed.
  ///
  /// - Parameters:
  ///   - value: The value; of a relationship, only the object IDs are used.
  ///   - key: The name of the property.
  ///   - object: The object. Reading its object ID fires no fault.
  func add(_ value: Any?, for key: String, of object: NSManagedObject) {
    let entity = object.entity.name ?? ""
    reads["\(entity).\(key)", default: []].insert(
      VariantWork.hash([ReadValues.text(object), ReadValues.text(value)]))
    pass(object)
  }

  /// Adds the object IDs of a result that the variant has at its end, unless it's a batched one.
  func add(_ result: NamedResult, named name: String) {
    let ids: [NSManagedObjectID]
    switch result.content {
    case .ids(let list): ids = list
    case .objects(let objects): ids = objects.map(\.objectID)
    default: return
    }
    let texts = ids.map { VariantWork.hash([ReadValues.text(id: $0)]) }
    reads["the result `\(name)`"] = Set(texts)
  }

  /// Adds an object that was reached without reading it.
  func add(_ object: NSManagedObject) {
    let entity = object.entity.name ?? ""
    reads[entity, default: []].insert(VariantWork.hash([ReadValues.text(object)]))
  }

  /// Adds an object that a step reaches without being asked to.
  func pass(_ object: NSManagedObject) {
    let entity = object.entity.name ?? ""
    passed[entity, default: []].insert(VariantWork.hash([ReadValues.text(object)]))
  }

  /// Adds the objects of a relationship whose value was read.
  func pass(destinationsIn value: Any?) {
    switch value {
    case let object as NSManagedObject: pass(object)
    case let objects as Set<NSManagedObject>:
      for object in objects { pass(object) }
    case let objects as NSOrderedSet:
      for case let object as NSManagedObject in objects { pass(object) }
    default: break
    }
  }

  /// The object ID of an unsaved object differs from run to run.
  private static func text(id: NSManagedObjectID) -> String {
    id.isTemporaryID ? "new" : id.uriRepresentation().lastPathComponent
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let object as NSManagedObject:
      text(id: object.objectID)
    case let objects as Set<NSManagedObject>:
      objects.map { text($0) }.sorted().joined(separator: " ")
    case let objects as NSOrderedSet: objects.map { text($0) }.joined(separator: " ")
    case let value?: "\(value)"
    }
  }
}
