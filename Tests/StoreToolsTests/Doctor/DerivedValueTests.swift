import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Derived attributes that copy a value")
struct DerivedValueTests {
  private static let document = """
    <model>
      <entity name="City">
        <attribute name="population" optional="YES" attributeType="Integer 64"/>
        <attribute name="updated" optional="YES" attributeType="Date"/>
        <relationship name="people" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Person" inverseName="city" inverseEntity="City"/>
      </entity>
      <entity name="Person">
        <attribute name="population" optional="YES" attributeType="Integer 64" derived="YES"
            derivationExpression="city.population"/>
        <attribute name="updated" optional="YES" attributeType="Date" derived="YES"
            derivationExpression="city.updated"/>
        <relationship name="city" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="City" inverseName="people" inverseEntity="City"/>
      </entity>
    </model>
    """

  /// A store of two persons, one of whom has a city.
  private func store(in folder: TemporaryFolder) throws -> URL {
    let url = folder.file("Cities.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try ModelDocument.read(data: Data(Self.document.utf8), file: "Cities"))
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
      city.setValue(10_000_000, forKey: "population")
      city.setValue(Date(timeIntervalSinceReferenceDate: 800_000_000), forKey: "updated")
      for home in [city, nil] {
        NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
          .setValue(home, forKey: "city")
      }
      try context.save()
    }
    try coordinator.remove(store)
    return url
  }

  /// The doctor and a repair agree on what differs.
  @Test(arguments: [
    (nil, 0), ("ZPOPULATION = ZPOPULATION + 1", 1), ("ZUPDATED = ZUPDATED + 600", 1),
    ("ZPOPULATION = NULL", 1),
  ])
  func copiesAreComparedExactly(change: String?, count: Int) throws {
    let folder = try TemporaryFolder()
    let url = try store(in: folder)
    if let change {
      let connection = try Connection(path: url.path, access: .writing)
      try connection.execute("UPDATE ZPERSON SET \(change) WHERE ZCITY IS NOT NULL")
      connection.close()
    }
    let findings = try StoreDoctor.examine(url).findings
    #expect(findings.map(\.rule) == Array(repeating: .derivedValue, count: count))
    let report = try StoreRepair.repair(url, to: folder.file("Repaired.sqlite"))
    #expect(report.derivedValues == count)
  }
}
