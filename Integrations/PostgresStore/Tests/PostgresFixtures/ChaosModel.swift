package import Foundation
package import OpenCoreData
import PostgresStore

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSEntityDescription
import class ManagedModel.NSManagedObjectModel
import class ManagedModel.NSRelationshipDescription

/// The store that processes share while its server is killed: groups of entries, each of one
/// writer, and counters that all change.
package enum ChaosModel {
  /// The number of entries of a group, which one save inserts, changes, or deletes.
  package static let groupSize = 3
  /// The names of the counters.
  package static let counters = ["a", "b", "c"]

  /// Opens the store in a new coordinator.
  package static func open(_ url: URL) throws -> NSPersistentStoreCoordinator {
    NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      type: .postgres, at: url, options: [NSPersistentStoreTimeoutOption: 20.0])
    return coordinator
  }

  /// Returns a context.
  package static func context(
    _ coordinator: NSPersistentStoreCoordinator
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func model() -> NSManagedObjectModel {
    let (entry, counter) = (NSEntityDescription(), NSEntityDescription())
    (entry.name, counter.name) = ("Entry", "Counter")
    let (owner, entries) = (NSRelationshipDescription(), NSRelationshipDescription())
    (owner.name, owner.destinationEntity, owner.maxCount) = ("counter", counter, 1)
    (entries.name, entries.destinationEntity) = ("entries", entry)
    (owner.inverseRelationship, entries.inverseRelationship) = (entries, owner)
    (owner.isOptional, entries.isOptional) = (true, true)
    entry.properties = [
      .attribute("name", .stringAttributeType), .attribute("writer", .integer64AttributeType),
      .attribute("number", .integer64AttributeType), .attribute("state", .integer64AttributeType),
      owner,
    ]
    entry.uniquenessConstraints = [["name"]]
    counter.properties = [
      .attribute("name", .stringAttributeType), .attribute("value", .integer64AttributeType),
      .attribute("note", .stringAttributeType), entries,
    ]
    let model = NSManagedObjectModel()
    model.entities = [entry, counter]
    return model
  }
}
