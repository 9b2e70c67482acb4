import Foundation
import OpenCoreData
import PostgresDriver
import PostgresStore

import class ManagedModel.NSAttributeDescription
import class ManagedModel.NSEntityDescription
import class ManagedModel.NSManagedObjectModel
import class ManagedModel.NSRelationshipDescription

/// A store of moods with nine attributes and a country each, and what a program does with them.
///
/// Each workload uses a new context, so that the row cache is empty.
package final class MoodStore {
  private let coordinator: NSPersistentStoreCoordinator
  private let connection: PostgresConnection
  private let schema: String
  /// The name of the table of moods.
  package let table: String

  /// Opens the store in a schema of a database, and creates it if there is none.
  package init(uri: String, schema: String) throws {
    NSPersistentStoreCoordinator.registerStoreClass(PostgresStore.self, type: .postgres)
    self.schema = QuotedIdentifier.of(schema)
    table = self.schema + ".\"Mood\""
    connection = try PostgresConnection(ConnectionSettings(uri: uri))
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    guard let url = URL(string: uri + "&schema=" + schema) else {
      throw CocoaError(.fileNoSuchFile)
    }
    try coordinator.addPersistentStore(type: .postgres, at: url)
  }

  /// Removes the schema; the store can't be used afterward.
  package func destroy() throws {
    try connection.execute("DROP SCHEMA \(schema) CASCADE")
  }

  /// Replaces the rows by a number of moods in 100 countries, without the store.
  package func fill(_ count: Int) throws {
    try connection.execute("TRUNCATE \(table), \(schema).\"Country\"")
    try connection.query(
      "INSERT INTO \(schema).\"Country\" (z_pk, z_ent, z_opt, name) "
        + "SELECT 1000000000 + n, (SELECT z_ent FROM \(schema).z_entity WHERE z_name = 'Country'), 1, "
        + "'country ' || n FROM generate_series(1, 100) n")
    try connection.query(
      "INSERT INTO \(table) (z_pk, z_ent, z_opt, rank, stamp, votes, flags, kind, latitude, longitude, name, "
        + "note, country) SELECT 2000000000 + n, (SELECT z_ent FROM \(schema).z_entity WHERE z_name = 'Mood'), "
        + "1, n, n * 7, n % 1000, n % 8, n % 3, n / 1000.0, n / 500.0, 'mood number ' || n, "
        + "'a note about the mood with the number ' || n, 1000000001 + n % 100 FROM generate_series(1, $1) n",
      [.integer(Int64(count))])
    try connection.execute("ANALYZE \(table)")
  }

  /// Removes the moods that a workload has saved, and what rows have left in the table.
  package func clean() throws {
    try connection.execute("DELETE FROM \(table) WHERE z_pk < 1000000000")
    try connection.execute("VACUUM \(table)")
  }

  private func inContext<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  // MARK: Workloads

  /// Fetches all moods, as faults over cached rows.
  ///
  /// - Parameter measure: Runs the measured part.
  /// - Returns: The number of moods.
  @discardableResult
  package func fetch(measuring measure: (() throws -> Void) throws -> Void) throws -> Int {
    try inContext { context in
      var moods: [NSManagedObject] = []
      try measure { moods = try context.fetch(NSFetchRequest(entityName: "Mood")) }
      return moods.count
    }
  }

  /// Fires faults of moods whose rows aren't cached, one after the other.
  ///
  /// - Returns: The number of objects that were read.
  @discardableResult
  package func fireFaults(
    _ count: Int, measuring measure: (() throws -> Void) throws -> Void
  ) throws -> Int {
    try inContext { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      request.includesPropertyValues = false
      request.fetchLimit = count
      let moods = try context.fetch(request)
      try measure { for mood in moods { mood.willAccessValue(forKey: "rank") } }
      return moods.count { !$0.isFault }
    }
  }

  /// Saves new moods.
  package func insert(
    _ count: Int, measuring measure: (() throws -> Void) throws -> Void
  ) throws {
    try inContext { context in
      let countries = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country"))
      for number in 0..<count {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue(Int64(number), forKey: "rank")
        mood.setValue(Int64(number * 7), forKey: "stamp")
        mood.setValue(Int32(number % 1000), forKey: "votes")
        mood.setValue(Int32(number % 8), forKey: "flags")
        mood.setValue(Int16(number % 3), forKey: "kind")
        mood.setValue(Double(number) / 1000, forKey: "latitude")
        mood.setValue(Double(number) / 500, forKey: "longitude")
        mood.setValue("mood number \(number)", forKey: "name")
        mood.setValue("a note about the mood with the number \(number)", forKey: "note")
        mood.setValue(countries[number % countries.count], forKey: "country")
      }
      context.processPendingChanges()
      try measure { try context.save() }
    }
  }

  /// Saves one changed attribute of moods.
  package func update(
    _ count: Int, measuring measure: (() throws -> Void) throws -> Void
  ) throws {
    try inContext { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
      request.fetchLimit = count
      for mood in try context.fetch(request) {
        mood.setValue((mood.value(forKey: "rank") as? Int64 ?? 0) + 1, forKey: "rank")
      }
      context.processPendingChanges()
      try measure { try context.save() }
    }
  }

  // MARK: Model

  private static func model() -> NSManagedObjectModel {
    let (mood, country) = (NSEntityDescription(), NSEntityDescription())
    (mood.name, country.name) = ("Mood", "Country")
    // Without an inverse, a new mood doesn't change its country.
    let owner = NSRelationshipDescription()
    (owner.name, owner.destinationEntity, owner.maxCount) = ("country", country, 1)
    owner.isOptional = true
    mood.properties = [
      .attribute("rank", .integer64AttributeType), .attribute("stamp", .integer64AttributeType),
      .attribute("votes", .integer32AttributeType), .attribute("flags", .integer32AttributeType),
      .attribute("kind", .integer16AttributeType), .attribute("latitude", .doubleAttributeType),
      .attribute("longitude", .doubleAttributeType), .attribute("name", .stringAttributeType),
      .attribute("note", .stringAttributeType), owner,
    ]
    country.properties = [.attribute("name", .stringAttributeType)]
    for property in mood.properties + country.properties where property !== owner {
      property.isOptional = false
    }
    let model = NSManagedObjectModel()
    model.entities = [country, mood]
    return model
  }
}

extension NSPropertyDescription {
  /// Returns an attribute with a name and a type.
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSPropertyDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    return attribute
  }
}
