import Foundation
import OpenCoreData

/// The valid inputs: a generated store and model, and those of Core Data if available.
struct FuzzInputs {
  let stores: [URL]
  let documents: [URL]

  /// Creates the generated store and model in a folder.
  init(in folder: TestFolder) throws {
    let document = folder.file("Fuzz.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    let contents = document.appendingPathComponent("contents")
    try Data(Self.document.utf8).write(to: contents)
    let store = folder.file("Fuzz.sqlite")
    try Self.fill(store, try NSManagedObjectModel.read(contentsOf: document))
    var stores = [store]
    var documents = [contents]
    let found = FileManager.default.enumerator(at: Self.shared, includingPropertiesForKeys: nil)
    for url in found?.compactMap({ $0 as? URL }) ?? [] {
      if ["sqlite", "moody"].contains(url.pathExtension) { stores.append(url) }
      if url.lastPathComponent == "contents" { documents.append(url) }
    }
    self.stores = stores.sorted { $0.path < $1.path }
    self.documents = documents.sorted { $0.path < $1.path }
  }

  /// The folder of models and stores created by Xcode and Core Data, which may not exist.
  private static var shared: URL {
    if let path = ProcessInfo.processInfo.environment["CDPROF_SHARED"] {
      return URL(fileURLWithPath: path).appendingPathComponent("data")
    }
    var package = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.deletingLastPathComponent().appendingPathComponent("shared/data")
  }

  /// Creates a store with values of all attributes and a persistent history.
  private static func fill(_ url: URL, _ model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let tags = (0..<3).map { number in
        let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
        tag.setValue("tag \(number)", forKey: "name")
        return tag
      }
      for number in 0..<12 {
        let name = number.isMultiple(of: 3) ? "Shop" : "Place"
        let place = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        place.setValue("place \(number)", forKey: "name")
        place.setValue(["street": "S\(number)", "at": ["x": 1.5, "y": 2.0]], forKey: "address")
        place.setValue(Data(repeating: UInt8(number), count: number * 20_000), forKey: "photo")
        place.setValue(Decimal(number), forKey: "price")
        place.setValue(UUID(), forKey: "key")
        place.setValue(URL(string: "https://example.org/\(number)"), forKey: "link")
        place.setValue(NSOrderedSet(array: tags), forKey: "tags")
      }
      try context.save()
      tags[0].setValue("changed", forKey: "name")
      context.delete(tags[2])
      try context.save()
    }
    try coordinator.remove(store)
  }

  private static let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="1">
      <entity name="Place" elementID="Spot">
        <attribute name="name" attributeType="String" indexed="YES" maxValueString="99"/>
        <attribute name="seen" optional="YES" attributeType="Date" defaultDateTimeInterval="5"/>
        <attribute name="open" attributeType="Boolean" defaultValueString="YES"/>
        <attribute name="stars" attributeType="Integer 16" defaultValueString="3"
            minValueString="0" maxValueString="5"/>
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <attribute name="key" optional="YES" attributeType="UUID" preserveAfterDeletion="YES"/>
        <attribute name="link" optional="YES" attributeType="URI"/>
        <attribute name="photo" optional="YES" attributeType="Binary"
            allowsExternalBinaryDataStorage="YES"/>
        <attribute name="tagCount" optional="YES" attributeType="Integer 64" derived="YES"
            derivationExpression="tags.@count"/>
        <attribute name="address" optional="YES" attributeType="Composite">
          <attribute name="street" optional="YES" attributeType="String"/>
          <attribute name="at" optional="YES" attributeType="Composite">
            <attribute name="x" optional="YES" attributeType="Double"/>
            <attribute name="y" optional="YES" attributeType="Double"/>
          </attribute>
        </attribute>
        <relationship name="tags" optional="YES" toMany="YES" ordered="YES"
            deletionRule="Nullify" destinationEntity="Tag" inverseName="places"
            inverseEntity="Tag"/>
        <fetchedProperty name="alike" optional="YES"><fetchRequest name="f" entity="Place"
            predicateString="name == $FETCH_SOURCE.name"/></fetchedProperty>
        <fetchIndex name="byAddress"><fetchIndexElement property="address.at.x" type="RTree"/>
        <fetchIndexElement property="address.at.y" type="RTree"/></fetchIndex>
        <fetchIndex name="some" partialIndexPredicate="stars > 2"><fetchIndexElement
            property="name" type="Binary" order="descending"/></fetchIndex>
        <compoundIndexes><compoundIndex><index value="name"/><index value="stars"/>
        </compoundIndex></compoundIndexes>
      </entity>
      <entity name="Shop" parentEntity="Place">
        <attribute name="till" optional="YES" attributeType="Float"/>
      </entity>
      <entity name="Tag">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="places" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Place" inverseName="tags" inverseEntity="Place"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="name"/>
        </uniquenessConstraint></uniquenessConstraints>
      </entity>
      <fetchRequest name="cheap" entity="Place" predicateString="price &lt; $MOST"/>
      <configuration name="Main"><memberEntity name="Place"/><memberEntity name="Tag"/>
      </configuration>
    </model>
    """
}
