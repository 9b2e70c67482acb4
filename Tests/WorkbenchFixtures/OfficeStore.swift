package import OpenCoreData
import SQLiteDriver

/// A store, created by OpenCoreData, that uses every feature of stores.
package struct OfficeStore {
  package let folder: TemporaryFolder
  package let url: URL

  /// Creates three people with passports, notes, tags, and a company, and optionally a history.
  package init(hasHistory: Bool = true) throws {
    folder = try TemporaryFolder()
    url = folder.file("Office.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
      }
      let company = make("Company", ["name": "Élan", "seat": Self.seat])
      let tags = NSOrderedSet(array: (1...2).map { make("Tag", ["name": "tag \($0)"]) }.reversed())
      for number in 1...3 {
        let person = make("Person", ["name": "Person \(number)", "code": "c\(number)"])
        person.setValue(company, forKey: "house")
        person.setValue(make("Passport", ["number": number]), forKey: "passport")
        person.setValue(tags, forKey: "tags")
        person.setValue(Data(repeating: 7, count: 10), forKey: "photo")
        for hours in 0..<number {
          make("Note", ["hours": Double(hours)]).setValue(person, forKey: "person")
        }
      }
      try context.save()
    }
    if hasHistory { try run(Self.history) }
  }

  /// A string with characters that output formats must escape.
  package static let seat = "a \"b\" \\ \n\t\u{1}\u{7F} 'é' 🏢"

  /// Executes statements on the store, with Core Data's SQL functions.
  package func run(_ sql: String) throws {
    let connection = try Connection(path: url.path, access: .writing)
    defer { connection.close() }
    try StoreFunctions.register(on: connection)
    try connection.execute(sql)
  }

  /// Adds a table `many` with empty indexes.
  ///
  /// They're added to the schema, because each `CREATE INDEX` reads all of it.
  package func addIndexes(_ count: Int) throws {
    try run(
      "CREATE TABLE many(a); CREATE TABLE filler(b); "
        + "INSERT INTO filler VALUES(zeroblob(\(count) * 4096)); PRAGMA writable_schema = 1; "
        + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) "
        + "INSERT INTO sqlite_master SELECT 'index', 'many' || i, 'many', "
        + "i + (SELECT rootpage FROM sqlite_master WHERE name = 'filler'), "
        + "'CREATE INDEX many' || i || ' ON many(a)' FROM n")
  }

  /// Adds an external data file.
  package func addFile(_ name: String) throws {
    let folder = ExternalStorage(storeURL: url).folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data([1]).write(to: folder.appendingPathComponent(name))
  }

  private static let history = """
    CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB );
    CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER,
      ZTIMESTAMP FLOAT );
    CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
      ZNAME VARCHAR );
    INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'app');
    INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, NULL, NULL, 1, 700000000.5);
    INSERT INTO ACHANGE SELECT Z_PK, 16001, 1, 0, Z_ENT, Z_PK, 1, NULL FROM ZTAG;
    INSERT INTO ACHANGE VALUES (7, 16001, 1, 2, (SELECT Z_ENT FROM ZTAG), 99, 1, NULL);
    INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 7), (16002, 'TRANSACTION', 0, 1),
      (16003, 'TRANSACTIONSTRING', 0, 1);
    """

  /// `Party` has the subentities `Person` and `Company`; a person's house is any party.
  package static func model() -> NSManagedObjectModel {
    let party = entity("Party", ["name": .stringAttributeType])
    let person = entity(
      "Person",
      ["code": .stringAttributeType, "photo": .binaryDataAttributeType])
    let company = entity("Company", ["seat": .stringAttributeType])
    let passport = entity("Passport", ["number": .integer32AttributeType])
    let note = entity("Note", ["hours": .doubleAttributeType])
    let tag = entity("Tag", ["name": .stringAttributeType])
    for (name, formula) in [
      ("noteCount", "notes.@count"), ("hoursSum", "notes.hours.@sum"), ("key", "canonical:(name)"),
      ("houseName", "house.name"), ("tagCount", "count:(tags)"), ("savedAt", "now()"),
    ] {
      let attribute = NSDerivedAttributeDescription()
      attribute.name = name
      attribute.attributeType =
        switch name {
        case "key", "houseName": .stringAttributeType
        case "hoursSum": .doubleAttributeType
        case "savedAt": .dateAttributeType
        default: .integer64AttributeType
        }
      attribute.derivationExpression = NSExpression(format: formula)
      person.properties += [attribute]
    }
    person.attributesByName["photo"]?.allowsExternalBinaryDataStorage = true
    party.subentities = [person, company]
    relate(person, "passport", false, passport, "owner", false)
    relate(person, "notes", true, note, "person", false)
    relate(person, "tags", true, tag, "people", true)
    person.relationshipsByName["tags"]?.isOrdered = true
    person.relationshipsByName["notes"]?.isOrdered = true
    person.attributesByName["code"]?.isOptional = false
    passport.relationshipsByName["owner"]?.isOptional = false
    relate(person, "house", false, party, "members", true)
    person.uniquenessConstraints = [["code"]]
    if let name = party.attributesByName["name"] {
      party.indexes = [
        NSFetchIndexDescription(
          name: "byName",
          elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
      ]
    }
    let model = NSManagedObjectModel()
    model.entities = [party, person, company, passport, note, tag]
    return model
  }

  private static func entity(
    _ name: String, _ attributes: [String: NSAttributeType]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.sorted { $0.key < $1.key }.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    return entity
  }

  private static func relate(
    _ source: NSEntityDescription, _ name: String, _ isToMany: Bool,
    _ destination: NSEntityDescription, _ inverseName: String, _ isInverseToMany: Bool
  ) {
    let (relationship, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
    (relationship.name, inverse.name) = (name, inverseName)
    (relationship.maxCount, inverse.maxCount) = (isToMany ? 0 : 1, isInverseToMany ? 0 : 1)
    (relationship.destinationEntity, inverse.destinationEntity) = (destination, source)
    (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
    source.properties += [relationship]
    destination.properties += [inverse]
  }
}
