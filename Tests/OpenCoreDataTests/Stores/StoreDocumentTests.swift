import Testing

@testable import OpenCoreData

@Suite("Content of document stores")
struct StoreDocumentTests {
  /// Values of each type, including edge cases.
  private static var values: [(String, NSAttributeType, [any Sendable])] {
    [
      ("small", .integer16AttributeType, [Int16.min, Int16.max]),
      ("middle", .integer32AttributeType, [Int32.min, Int32.max]),
      ("large", .integer64AttributeType, [Int64.min, Int64.max]),
      ("flag", .booleanAttributeType, [true, false]),
      ("ratio", .doubleAttributeType, [0.1, -Double.infinity, Double.leastNonzeroMagnitude, 3.0]),
      ("short", .floatAttributeType, [Float(0.1), Float.greatestFiniteMagnitude]),
      (
        "date", .dateAttributeType,
        [
          Date(timeIntervalSinceReferenceDate: -1.25),
          Date(timeIntervalSinceReferenceDate: 1e9 / 3),
        ]
      ),
      (
        "text", .stringAttributeType,
        ["", "  é e\u{301} 👩‍👩‍👧  ", "a\r\n\tb", "<&\"'>]]>", "\u{0}\u{1}\u{FFFE}", "</attribute>"]
      ),
      ("place", .URIAttributeType, [URL(string: "https://a.b/c?d=%20&e=f") ?? URL(filePath: "/")]),
      (
        "price", .decimalAttributeType,
        [Decimal(string: "0.1") ?? 0, Decimal(string: "-12345678901234567890.12") ?? 0]
      ),
      (
        "key", .UUIDAttributeType,
        [UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))]
      ),
      ("data", .binaryDataAttributeType, [Data(), Data(0...255)]),
      ("outside", .binaryDataAttributeType, [Data(repeating: 1, count: 200_000), Data([2, 1])]),
    ]
  }

  private static func model() -> NSManagedObjectModel {
    let properties = values.map { name, type, _ in
      let attribute = SchemaModels.attribute(name, type)
      attribute.allowsExternalBinaryDataStorage = name == "outside"
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [SchemaModels.entity("Value", properties)]
    return model
  }

  @Test("Values of every type round-trip", arguments: AtomicStoreTests.documents)
  func valuesOfEveryTypeRoundTrip(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: Self.model())
    let context = try stack.coldContext()
    let ids = try context.performAndWait {
      let objects = Self.values.flatMap { name, _, values in
        values.map { value in
          let object = NSEntityDescription.insertNewObject(forEntityName: "Value", into: context)
          object.setValue(value, forKey: name)
          return object
        }
      }
      try context.save()
      return objects.map { $0.objectID.uriRepresentation() }
    }
    try check(ids, in: stack.coldContext())
    // Saves the values that were read, and reads them again.
    let again = try stack.coldContext()
    let coordinator = try #require(again.persistentStoreCoordinator)
    coordinator.setMetadata(["again": true], for: try #require(coordinator.persistentStores.first))
    try again.performAndWait { try again.save() }
    try check(ids, in: stack.coldContext())
  }

  /// Compares the objects with these IDs with the values, in order.
  private func check(_ ids: [URL], in context: NSManagedObjectContext) throws {
    try context.performAndWait {
      let expected = Self.values.flatMap { name, _, values in values.map { (name, $0) } }
      for (url, (name, value)) in zip(ids, expected) {
        let id = try #require(
          context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
        let object = try context.existingObject(with: id)
        for (other, _, _) in Self.values {
          let found = object.storedValue(forKey: other)
          if other != name {
            #expect(found == nil, "\(other) of \(name)")
          } else if let text = value as? String {
            #expect((found as? String).map { Array($0.utf8) } == Array(text.utf8))
          } else {
            #expect(found as? AnyHashable == value as? AnyHashable, "\(name)")
          }
        }
      }
    }
  }

  @Test(
    "Names of a to-one and a to-many relationship can differ only in case",
    arguments: AtomicStoreTests.documents)
  func relationshipsDifferInCase(kind: StoreKind) throws {
    let node = SchemaModels.entity("Node", [SchemaModels.attribute("name", .stringAttributeType)])
    SchemaModels.relate(node, "Parts", many: false, node, "from", many: true)
    SchemaModels.relate(node, "parts", many: true, node, "whole", many: false)
    let model = NSManagedObjectModel()
    model.entities = [node]
    let stack = try TestStack(kind, model: model)
    let context = try stack.coldContext()
    let url = try context.performAndWait {
      let nodes = ["whole", "part"].map { name in
        let object = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
        object.setValue(name, forKey: "name")
        return object
      }
      nodes[0].setValue(Set([nodes[1]]), forKey: "parts")
      try context.save()
      return nodes[0].objectID.uriRepresentation()
    }
    let cold = try stack.coldContext()
    try cold.performAndWait {
      let id = try #require(
        cold.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url))
      let whole = try cold.existingObject(with: id)
      let parts = try #require(whole.value(forKey: "parts") as? Set<NSManagedObject>)
      #expect(parts.compactMap { $0.value(forKey: "name") as? String } == ["part"])
      #expect(whole.value(forKey: "Parts") == nil)
    }
  }

  @Test("A document of more than 10 MB is read again")
  func largeDocumentsRoundTrip() throws {
    var document = Self.document
    let text = String(repeating: "é&", count: 3_000_000)
    let data = Data(repeating: 7, count: 6_000_000)
    let values: [RowValue] = [.text(text), .bytes(data), .text("end")]
    for (key, value) in zip(Int64(1)..., values) {
      var object = StoreDocument.Object(entity: "Value", key: key)
      object.attributes = [StoreDocument.Attribute(name: "value", type: "string", value: value)]
      document.objects.append(object)
    }
    let read = try StoreDocumentParser.parse(document.xml())
    let texts = read.objects.compactMap { object in
      if case .text(let text)? = object.attributes.first?.value { text } else { nil as String? }
    }
    #expect(texts == [text, data.base64EncodedString(), "end"])
  }

  @Test("A relationship with more destinations than can be read again fails the save")
  func tooManyDestinationsAreAnError() throws {
    var document = Self.document
    var object = StoreDocument.Object(entity: "Value", key: 1)
    object.relationships = [
      StoreDocument.Relationship(
        name: "all", isToMany: true, destination: "Value", keys: Array(10_000_000..<11_200_000))
    ]
    document.objects = [object]
    let error = try #require(thrownError { _ = try document.xml() })
    #expect(error.code == NSPersistentStoreSaveError)
    #expect(error.localizedDescription.contains("'all' of an object of Value"))
  }

  private static var document: StoreDocument {
    StoreDocument(uuid: "4D2F6E2A-8C35-4E43-A1B5-7D8D6E1D7A11", metadata: [:], lastKey: 3)
  }

  /// A document like public examples of Core Data's: uppercase names, Core Data's hashes.
  private static let apples = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

    <database>
        <databaseInfo>
            <version>134481920</version>
            <UUID>4D2F6E2A-8C35-4E43-A1B5-7D8D6E1D7A11</UUID>
            <nextObjectID>106</nextObjectID>
            <metadata>
                <plist version="1.0">
                    <dict>
                        <key>NSPersistenceFrameworkVersion</key>
                        <integer>358</integer>
                        <key>NSStoreModelVersionHashes</key>
                        <dict>
                            <key>Tag</key>
                            <data>
    \t\tAAECAwQFBgcICQoLDA0ODw==
    \t\t</data>
                        </dict>
                        <key>NSStoreModelVersionIdentifiers</key>
                        <array></array>
                    </dict>
                </plist>
            </metadata>
        </databaseInfo>
        <object type="BOOK" id="z104">
            <attribute name="title" type="string">A &amp; B</attribute>
            <attribute name="added" type="date">297348592.12345600000000000000</attribute>
            <attribute name="isLent" type="bool">1</attribute>
            <relationship name="author" type="0/1" destination="AUTHOR" idrefs="z102"></relationship>
            <relationship name="tags" type="0/0" destination="TAG" idrefs="z105 z103"></relationship>
        </object>
        <object type="AUTHOR" id="z102">
            <attribute name="name" type="string">Ann</attribute>
            <attribute name="age" type="int16">42</attribute>
            <relationship name="items" type="0/0" destination="ITEM" idrefs="z104"></relationship>
            <relationship name="mentor" type="0/1" destination="AUTHOR"></relationship>
        </object>
        <object type="TAG" id="z103"><attribute name="name" type="string">old</attribute>
            <relationship name="items" type="0/0" destination="ITEM" idrefs="z104"></relationship></object>
        <object type="TAG" id="z105"><attribute name="name" type="string">new</attribute>
            <relationship name="items" type="0/0" destination="ITEM" idrefs="z104"></relationship></object>
    </database>
    """

  @Test("A document in Core Data's format is read, and its numbering continues")
  func documentInCoreDatasFormatIsReadAndItsNumberingContinues() throws {
    let stack = try TestStack(.xml, model: SchemaModels.library())
    try Data(Self.apples.utf8).write(to: stack.storeURL)
    let context = try stack.coldContext()
    try context.performAndWait {
      let book = try #require(
        context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
      #expect(book.entity.name == "Book" && book.value(forKey: "title") as? String == "A & B")
      #expect(
        (book.value(forKey: "added") as? Date)?.timeIntervalSinceReferenceDate == 297348592.123456)
      #expect(book.value(forKey: "isLent") as? Bool == true)
      let author = try #require(book.value(forKey: "author") as? NSManagedObject)
      #expect(author.value(forKey: "age") as? Int16 == 42)
      #expect((author.value(forKey: "items") as? Set<NSManagedObject>) == [book])
      let tags = book.mutableOrderedSetValue(forKey: "tags").compactMap { $0 as? NSManagedObject }
      #expect(tags.map { $0.value(forKey: "name") as? String } == ["new", "old"])
      let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
      tag.setValue("newest", forKey: "name")
      try context.save()
      #expect(tag.objectID.uriRepresentation().lastPathComponent == "p106")
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      type: .xml, at: stack.storeURL)
    #expect(metadata["NSPersistenceFrameworkVersion"] as? Int == 358, "other metadata is kept")
    #expect(metadata[NSStoreUUIDKey] as? String == "4D2F6E2A-8C35-4E43-A1B5-7D8D6E1D7A11")
  }

  @Test(
    "An invalid document is an error with its line and column",
    arguments: [
      ("id=\"z102\"", "id=\"102\"", "an object needs a type and an id"),
      ("type=\"AUTHOR\" id", "id", "an object needs a type and an id"),
      ("idrefs=\"z105 z103\"", "idrefs=\"z105 tag\"", "a relationship needs a name and idrefs"),
      ("attribute name=\"age\"", "attribute", "an attribute needs a name"),
      ("<nextObjectID>106", "<nextObjectID>many", "nextObjectID isn't a number"),
      ("</object>", "</objekt>", "isn't well-formed XML"),
    ])
  func invalidDocumentIsAnErrorWithLineAndColumn(
    part: String, instead: String, message: String
  ) throws {
    let stack = try TestStack(.xml, model: SchemaModels.library())
    try Data(Self.apples.replacing(part, with: instead, maxReplacements: 1).utf8)
      .write(to: stack.storeURL)
    let error = try #require(throws: NSError.self) { try stack.coldContext() }
    #expect(error.code == CocoaError.Code.fileReadCorruptFile.rawValue)
    let text = error.localizedDescription
    #expect(text.contains(message), "\(text)")
    #expect(text.contains(#/Store\.sqlite:\d+:\d+ /#), "\(text)")
  }

  @Test(
    "Mismatches with the model are errors that name the element",
    arguments: [
      ("type=\"AUTHOR\" id", "type=\"WRITER\" id", "the entity 'WRITER', which isn't in the model"),
      ("name=\"age\"", "name=\"years\"", "no attribute 'years'"),
      (">42<", ">forty-two<", "'age' of the object 102 of 'AUTHOR' isn't of type int16"),
      ("name=\"mentor\"", "name=\"boss\"", "no relationship 'boss'"),
      ("id=\"z103\"", "id=\"z105\"", "two objects have it"),
      ("AUTHOR\" idrefs=\"z102\"", "AUTHOR\" idrefs=\"z103\"", "entity is 'Tag', not 'Author'"),
      ("idrefs=\"z105 z103\"", "idrefs=\"z105 z102\"", "entity is 'Author', not 'Tag'"),
    ])
  func mismatchWithTheModelIsAnErrorThatNamesTheElement(
    part: String, instead: String, message: String
  ) throws {
    let stack = try TestStack(.xml, model: SchemaModels.library())
    try Data(Self.apples.replacing(part, with: instead, maxReplacements: 1).utf8)
      .write(to: stack.storeURL)
    let error = try #require(throws: NSError.self) { try stack.coldContext() }
    #expect(error.code == NSPersistentStoreIncompatibleSchemaError)
    #expect(error.localizedDescription.contains(message), "\(error.localizedDescription)")
  }

  @Test(
    "Corrupt documents are errors and never stop the process",
    arguments: AtomicStoreTests.documents)
  func corruptDocumentsAreErrorsAndNeverStopTheProcess(kind: StoreKind) throws {
    let stack = try TestStack(kind, model: SchemaModels.library())
    let context = try stack.coldContext()
    try context.performAndWait {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      book.setValue("t", forKey: "title")
      book.setValue(UUID(), forKey: "key")
      book.setValue(author, forKey: "author")
      try context.save()
    }
    let intact = try Data(contentsOf: stack.storeURL)
    var generator = SeededRandom(seed: 7)
    var opened = 0
    for round in 0..<600 {
      var bytes = intact
      if round < 40 {
        bytes = bytes.prefix(bytes.count * round / 40)
      } else {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
            UInt8.random(in: 0...255, using: &generator)
        }
      }
      try bytes.write(to: stack.storeURL)
      do {
        let context = try stack.coldContext()
        try context.performAndWait {
          for entity in ["Item", "Author"] {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
              _ = object.value(forKey: entity == "Item" ? "author" : "items")
            }
          }
        }
        opened += 1
      } catch {
        #expect((error as NSError).domain == NSCocoaErrorDomain, "round \(round)")
      }
    }
    #expect(opened > 0 && opened < 600)
  }

  @Test("A primary key at the maximum is an error")
  func maximumPrimaryKeyIsAnError() throws {
    let stack = try TestStack(.xml, model: SchemaModels.library())
    for (part, instead) in [
      ("<nextObjectID>106", "<nextObjectID>\(Int64.max)"), ("id=\"z103\"", "id=\"z\(Int64.max)\""),
    ] {
      try Data(Self.apples.replacing(part, with: instead).utf8).write(to: stack.storeURL)
      let error = try #require(throws: NSError.self) { try stack.coldContext() }
      #expect(error.code == CocoaError.Code.fileReadCorruptFile.rawValue)
      #expect(error.localizedDescription.contains("leaves no keys for new objects"))
    }
  }

  @Test("A file of another store type is an error")
  func fileOfAnotherStoreTypeIsAnError() throws {
    let stack = try TestStack(.binary, model: SchemaModels.library())
    _ = try stack.coldContext()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.model)
    for (type, bytes, text) in [
      (.xml, try Data(contentsOf: stack.storeURL), "isn't in UTF-8"),
      (.xml, Data("<plist/>".utf8), "isn't a store"),
      (.binary, Data(Self.apples.utf8), "isn't a binary store written by OpenCoreData"),
      (.binary, Data(), "it's empty"), (.xml, Data(), "it's empty"),
    ] as [(NSPersistentStore.StoreType, Data, String)] {
      let url = stack.folder.appendingPathComponent("Other")
      try bytes.write(to: url)
      let error = try #require(throws: NSError.self) {
        try coordinator.addPersistentStore(type: type, at: url)
      }
      #expect(error.code == CocoaError.Code.fileReadCorruptFile.rawValue)
      #expect(error.localizedDescription.contains(text), "\(error.localizedDescription)")
    }
  }
}
