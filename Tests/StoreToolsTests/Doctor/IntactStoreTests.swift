import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import StoreTools

@Suite("The doctor has no findings in valid stores with every feature")
struct IntactStoreTests {
  private static let document = """
    <model>
      <entity name="Place">
        <attribute name="name" optional="YES" attributeType="String" indexed="YES"/>
        <attribute name="photo" optional="YES" attributeType="Binary"
            allowsExternalBinaryDataStorage="YES"/>
        <attribute name="tagCount" optional="YES" attributeType="Integer 64" derived="YES"
            derivationExpression="tags.@count"/>
        <attribute name="address" optional="YES" attributeType="Composite">
          <attribute name="street" optional="YES" attributeType="String"/>
          <attribute name="at" optional="YES" attributeType="Composite">
            <attribute name="x" optional="YES" attributeType="Double"/>
            <attribute name="scan" optional="YES" attributeType="Binary"
                allowsExternalBinaryDataStorage="YES"/>
          </attribute>
        </attribute>
        <relationship name="tags" optional="YES" toMany="YES" ordered="YES"
            deletionRule="Nullify" destinationEntity="Tag" inverseName="places"
            inverseEntity="Tag"/>
        <relationship name="near" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Place" inverseName="near" inverseEntity="Place"/>
        <fetchIndex name="byX"><fetchIndexElement property="address.at.x" type="RTree"/>
        </fetchIndex>
        <fetchIndex name="byStreet"><fetchIndexElement property="address.street"/></fetchIndex>
        <fetchIndex name="byLength"><fetchIndexElement expression="length:(name)"
            expressionType="Integer 64"/></fetchIndex>
      </entity>
      <entity name="Shop" parentEntity="Place"/>
      <entity name="Tag">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="places" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Place" inverseName="tags" inverseEntity="Place"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>
        </uniquenessConstraint></uniquenessConstraints>
      </entity>
    </model>
    """

  /// Creates a store whose objects were inserted, updated, and deleted.
  private func store() throws -> (folder: TemporaryFolder, url: URL) {
    let folder = try TemporaryFolder()
    let url = folder.file("Used.sqlite")
    let document = folder.file("Used.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    try Data(Self.document.utf8).write(to: document.appendingPathComponent("contents"))
    let model = try NSManagedObjectModel.read(contentsOf: document)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      func make(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      let tags = (0..<3).map { make("Tag", "tag \($0)") }
      let places = (0..<6).map { number in
        let place = make(number.isMultiple(of: 2) ? "Place" : "Shop", "place \(number)")
        let large = Data(repeating: UInt8(number), count: 150_000)
        place.setValue(number < 3 ? large : Data([1]), forKey: "photo")
        place.setValue(
          ["street": "S", "at": ["x": Double(number), "scan": large] as [String: Any]],
          forKey: "address")
        place.setValue(NSOrderedSet(array: tags.reversed()), forKey: "tags")
        return place
      }
      places[0].setValue(Set([places[1], places[4]]), forKey: "near")
      try context.save()
      places[0].setValue(nil, forKey: "photo")
      places[1].setValue(nil, forKey: "address")
      places[2].setValue(9.5, forKeyPath: "address.at.x")
      context.delete(places[3])
      context.delete(tags[1])
      try context.save()
      let update = NSBatchUpdateRequest(entityName: "Place")
      update.propertiesToUpdate = ["address.street": "T"]
      try context.execute(update)
      let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shop")
      request.predicate = NSPredicate(format: "name == 'place 5'")
      try context.execute(NSBatchDeleteRequest(fetchRequest: request))
    }
    try coordinator.remove(store)
    return (folder, url)
  }

  @Test func storeWithEveryFeatureHasNoFindings() throws {
    let (folder, url) = try store()
    let report = try StoreDoctor.examine(url)
    #expect(report.findings == [])
    #expect(!report.isInferred)
    let connection = try Connection(path: url.path, access: .inspecting)
    defer { connection.close() }
    #expect(
      try connection.values("SELECT count(*) FROM ACHANGE WHERE ZENTITY < 16000") != [[.integer(0)]]
    )
    #expect(
      try connection.values("SELECT ZADDRESS_AT_X_MIN FROM Z_RT_Place_byX ORDER BY 1")
        == [[.real(0)], [.real(4)], [.real(9.5)]])
    #expect(
      try connection.values("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Place_by%'")
        == [[.text("Z_Place_byStreet")]])
    var rows: [StoreRow] = []
    try StoreRows(url, entity: "Place", where: nil).forEach { rows.append($0) }
    #expect(rows.count == 4)
    let address = rows.first?.values.first { $0.name == "address" }?.value
    guard case .group(let values)? = address, case .group(let at)? = values["at"] else {
      Issue.record("no group: \(String(describing: address))")
      return
    }
    #expect(values["street"] == .text("T"))
    #expect(at["x"] == .real(0))
    #expect(at["scan"] == .bytes(Data(repeating: 0, count: 150_000)))
    #expect(try StoreInspector.inspect(url).entities.map(\.name).contains("Shop"))
    withExtendedLifetime(folder) {}
  }

  @Test(arguments: [
    ("DROP TABLE Z_RT_Place_byX", DoctorRuleName.indexMissing),
    ("DELETE FROM Z_RT_Place_byX WHERE Z_PK = 1", .indexMissing),
    ("SELECT 1", .triggerMissing),
    ("DELETE FROM Z_1NEAR WHERE Z_1NEAR = REFLEXIVE OR Z_1NEAR > REFLEXIVE", .oneSidedInverse),
    ("UPDATE ZPLACE SET ZADDRESS_AT_X = 'east' WHERE Z_PK = 1", .valueType),
    ("UPDATE ZPLACE SET ZADDRESS_AT_SCAN = x'01' WHERE Z_PK = 1", .externalFileUnowned),
    ("DELETE FROM ACHANGE WHERE ZCHANGETYPE = 2; DELETE FROM ZPLACE WHERE Z_PK = 3", .history),
  ])
  func corruptionOfEveryFeatureIsFound(sql: String, rule: DoctorRuleName) throws {
    let (folder, url) = try store()
    let connection = try Connection(path: url.path, access: .writing)
    try StoreFunctions.register(on: connection)
    // The triggers would repair the R-tree, or make the statement fail.
    try connection.execute(
      "DROP TRIGGER Z_RT_Place_byX_UPDATE; DROP TRIGGER Z_RT_Place_byX_DELETE; " + sql)
    connection.close()
    #expect(try StoreDoctor.examine(url).findings.map(\.rule).contains(rule))
    withExtendedLifetime(folder) {}
  }
}
