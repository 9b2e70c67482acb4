import ManagedModel
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Composite attributes")
struct CompositeAttributeTests {
  private static let document = """
    <model>
      <entity name="Plane">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="colors" optional="YES" attributeType="Composite" elementID="paint">
          <attribute name="body" attributeType="String"/>
          <attribute name="tail" optional="YES" attributeType="Composite">
            <attribute name="stripe" optional="YES" attributeType="String"/>
            <attribute name="stripes" optional="YES" attributeType="Integer 16" maxValueString="9"/>
          </attribute>
        </attribute>
        <attribute name="wing" attributeType="Composite">
          <attribute name="span" optional="YES" attributeType="Double" defaultValueString="12.5"/>
          <attribute name="made" optional="YES" attributeType="Date"/>
        </attribute>
        <relationship name="field" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Field" inverseName="planes" inverseEntity="Field"/>
      </entity>
      <entity name="Field">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="spot" optional="YES" attributeType="Composite">
          <attribute name="north" optional="YES" attributeType="Double"/>
          <attribute name="east" optional="YES" attributeType="Double"/>
        </attribute>
        <relationship name="planes" optional="YES" toMany="YES" deletionRule="Nullify"
            destinationEntity="Plane" inverseName="field" inverseEntity="Plane"/>
      </entity>
    </model>
    """

  static func model() throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data(document.utf8), file: "Planes")
  }

  @discardableResult
  private func insert(
    _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  private static var paint: [String: Any] {
    ["body": "red", "tail": ["stripe": "white", "stripes": 3] as [String: Any]]
  }

  /// Three planes and two fields; one plane has no colors and no field.
  private func filled(_ kind: StoreKind) throws -> GraphStack {
    let stack = try GraphStack(kind, model: try Self.model())
    let context = try stack.context()
    try context.performAndWait {
      let near = insert(
        "Field", ["name": "near", "spot": ["north": 1.0, "east": 2.0]], in: context)
      let far = insert("Field", ["name": "far", "spot": ["north": 50.0]], in: context)
      insert("Plane", ["name": "a", "colors": Self.paint, "field": near], in: context)
      insert("Plane", ["name": "b", "colors": ["body": "blue"], "field": far], in: context)
      insert("Plane", ["name": "c", "wing": ["span": 8.0]], in: context)
      try context.save()
    }
    return stack
  }

  private func text(_ value: Any?, _ path: String...) -> String? {
    var value = value
    for key in path { value = (value as? [String: Any])?[key] }
    return value.map { "\($0)" }
  }

  @Test func eachElementHasAColumnAndOtherColumnNamesAreRead() throws {
    let model = try Self.model()
    let statements = SchemaBuilder(model: SQLModel(model: model)).statements
    #expect(
      statements.contains(
        "CREATE TABLE ZPLANE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
          + "ZCOLORS_TAIL_STRIPES INTEGER, ZFIELD INTEGER, ZWING_MADE TIMESTAMP, "
          + "ZWING_SPAN FLOAT, ZNAME VARCHAR, ZCOLORS_BODY VARCHAR, ZCOLORS_TAIL_STRIPE VARCHAR )")
        || statements.contains(
          "CREATE TABLE ZPLANE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
            + "ZCOLORS_TAIL_STRIPES INTEGER, ZFIELD INTEGER, ZWING_MADE TIMESTAMP, "
            + "ZWING_SPAN FLOAT, ZCOLORS_BODY VARCHAR, ZCOLORS_TAIL_STRIPE VARCHAR, ZNAME VARCHAR )"
        ))
    // Stores created elsewhere may have other column names.
    let stack = try filled(.sqlite)
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("ALTER TABLE ZPLANE RENAME COLUMN ZCOLORS_BODY TO ZBODY")
    try connection.execute("ALTER TABLE ZFIELD RENAME COLUMN ZSPOT_NORTH TO ZSPOTNORTH")
    connection.close()
    let context = try stack.context()
    try context.performAndWait {
      let (planes, fields) = (try context.all("Plane"), try context.all("Field"))
      #expect(text(planes[1].value(forKey: "colors"), "body") == "blue")
      #expect(text(fields[0].value(forKey: "spot"), "north") == "50.0")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func valuesAreSavedFaultedAndChanged(kind: StoreKind) throws {
    let stack = try filled(kind)
    let context = try stack.context()
    try context.performAndWait {
      let planes = try context.all("Plane")
      let colors = planes[0].value(forKey: "colors")
      #expect(text(colors, "body") == "red")
      #expect(text(colors, "tail", "stripes") == "3")
      #expect(planes[0].value(forKeyPath: "colors.tail.stripe") as? String == "white")
      #expect(planes[0].value(forKeyPath: "field.spot.east") as? Double == 2)
      #expect(text(planes[1].value(forKey: "colors"), "tail") == nil)
      #expect(planes[2].value(forKey: "colors") == nil)
      #expect(text(planes[0].value(forKey: "wing"), "span") == "12.5")
      #expect(text(planes[2].value(forKey: "wing"), "span") == "8.0")

      planes[0].setValue("green", forKeyPath: "colors.body")
      planes[1].setValue(7.5, forKeyPath: "field.spot.north")
      planes[2].setValue(["body": "grey"], forKey: "colors")
      #expect(Set(planes[0].changedValues().keys) == ["colors"])
      #expect(text(planes[0].changedValues()["colors"], "body") == "green")
      #expect(text(planes[0].committedValues(forKeys: ["colors"])["colors"], "body") == "red")
      #expect(planes[0].committedValues(forKeys: nil)["colors.body"] == nil)
      try context.save()
    }
    let again = try stack.context()
    try again.performAndWait {
      let planes = try again.all("Plane")
      #expect(
        planes.map { text($0.value(forKey: "colors"), "body") } == ["green", "blue", "grey"])
      #expect(text(planes[0].value(forKey: "colors"), "tail", "stripe") == "white")
      #expect(planes[1].value(forKeyPath: "field.spot.north") as? Double == 7.5)
      planes[0].setValue(nil, forKey: "colors")
      planes[1].setValue("pink", forKeyPath: "colors.body")
      again.refresh(planes[1], mergeChanges: false)
      #expect(text(planes[1].value(forKey: "colors"), "body") == "blue")
      try again.save()
      again.refresh(planes[0], mergeChanges: false)
      #expect(planes[0].value(forKey: "colors") == nil)
    }
  }

  @Test func saveWritesOnlyChangedElements() throws {
    let stack = try TestStack(model: try Self.model())
    let events = EventList()
    let context = try stack.coldContext(sinks: [events])
    try context.performAndWait {
      let plane = insert("Plane", ["colors": Self.paint], in: context)
      try context.save()
      plane.setValue("green", forKeyPath: "colors.body")
      try context.save()
      plane.setValue(
        ["body": "green", "tail": ["stripe": "white", "stripes": 3]], forKey: "colors")
      #expect(!plane.hasPersistentChangedValues)
    }
    let updates = events.statements().filter { $0.hasPrefix("UPDATE ZPLANE") }
    #expect(updates.count == 1)
    #expect(updates.first?.contains("SET ZCOLORS_BODY = ?, Z_OPT = ?") == true)
  }

  @Test(arguments: StoreKind.allCases)
  func predicatesAndSortDescriptorsUseElements(kind: StoreKind) throws {
    let stack = try filled(kind)
    let context = try stack.context()
    try context.performAndWait {
      for (format, names) in [
        ("colors.body == 'red'", ["a"]), ("colors.body BEGINSWITH[c] 'B'", ["b"]),
        ("colors.tail.stripes > 2 AND wing.span > 10", ["a"]), ("colors.body == nil", ["c"]),
        ("field.spot.north >= 1", ["a", "b"]), ("field.spot.east == 2.0", ["a"]),
        ("wing.span IN {8, 9}", ["c"]), ("colors == nil", ["c"]), ("nil != colors", ["a", "b"]),
        ("colors.tail == nil", ["b", "c"]), ("NOT colors == nil", ["a", "b"]),
        ("field.spot != nil AND colors != nil", ["a", "b"]),
      ] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Plane")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let found = try context.fetch(request).map { $0.value(forKey: "name") as? String }
        #expect(found == names, "\(format)")
      }
      let fields = NSFetchRequest<NSManagedObject>(entityName: "Field")
      fields.predicate = NSPredicate(format: "ANY planes.colors.body == 'blue'")
      #expect(try context.fetch(fields).map { $0.value(forKey: "name") as? String } == ["far"])
      fields.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      for (condition, names) in [
        ("$p.colors.tail == nil", ["far"]), ("nil != $p.colors.tail", ["near"]),
        ("$p.colors != nil AND $p.field.spot != nil", ["far", "near"]), ("$p.colors == nil", []),
      ] as [(String, [String])] {
        fields.predicate = NSPredicate(format: "SUBQUERY(planes, $p, \(condition)).@count == 1")
        let found = try context.fetch(fields).map { $0.value(forKey: "name") as? String }
        #expect(found == names, "\(condition)")
      }
      let order = NSFetchRequest<NSManagedObject>(entityName: "Plane")
      order.sortDescriptors = [
        NSSortDescriptor(key: "colors.body", ascending: false),
        NSSortDescriptor(key: "field.spot.north", ascending: true),
      ]
      #expect(
        try context.fetch(order).map { $0.value(forKey: "name") as? String } == ["a", "b", "c"])
      // A fetch merges unsaved changes.
      try context.all("Plane").last?.setValue(["body": "red"], forKey: "colors")
      let red = NSFetchRequest<NSManagedObject>(entityName: "Plane")
      red.predicate = NSPredicate(format: "colors.body == 'red'")
      #expect(try context.fetch(red).count == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func wholeCompositesAreComparedWithModifiers(kind: StoreKind) throws {
    let context = try filled(kind).context()
    try context.performAndWait {
      for isChanged in [false, true] {
        if isChanged {
          // Setting equal values marks the objects as updated: all are evaluated in memory.
          for object in try context.all("Plane") + context.all("Field") {
            object.setValue(object.value(forKey: "name"), forKey: "name")
          }
        }
        for (entity, format, names) in [
          ("Field", "ANY planes.colors == nil", []),
          ("Field", "ANY planes.colors.tail == nil", ["far"]),
          ("Field", "ANY planes.colors != nil", ["far", "near"]),
          ("Field", "ALL planes.colors.tail == nil", ["far"]),
          ("Field", "ALL planes.colors.tail != nil", ["far", "near"]),
          ("Field", "NONE planes.colors.tail == nil", ["near"]),
          (
            "Field", "SUBQUERY(planes, $p, ANY $p.field.planes.colors.tail == nil).@count == 1",
            ["far"]
          ),
          ("Plane", "ANY field.planes.colors.tail == nil", ["b"]),
          ("Plane", "ALL field.planes.colors == nil", ["c"]),
          ("Plane", "ANY field.planes.field.planes.colors.tail != nil", ["a"]),
          ("Plane", "ANY field.spot == nil", []), ("Plane", "ALL field.spot == nil", ["c"]),
          ("Plane", "ANY field.spot != nil", ["a", "b"]),
          ("Plane", "ALL colors != nil", ["a", "b", "c"]),
          ("Plane", "NOT ANY field.spot != nil", ["c"]),
        ] as [(String, String, [String])] {
          let request = NSFetchRequest<NSManagedObject>(entityName: entity)
          request.predicate = NSPredicate(format: format)
          request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
          let found = try context.fetch(request).map { $0.value(forKey: "name") as? String }
          #expect(found == names, "\(format)")
        }
      }
    }
  }

  @Test func invalidElementPathsAreReported() throws {
    let stack = try filled(.sqlite)
    let context = try stack.context()
    context.performAndWait {
      for (format, message) in [
        ("colors == name", "Specify one of its elements: colors.body, colors.tail."),
        ("colors.bodi == 'x'", "Did you mean body?"),
        ("colors.body.x == 1", "is an attribute; a key path can"),
      ] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Plane")
        request.predicate = NSPredicate(format: format)
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        let said = "\(error?.userInfo ?? [:])"
        #expect(said.range(of: message) != nil, "\(format)")
      }
    }
  }

  @Test(arguments: [StoreKind.memory, .xml, .binary])
  func invalidElementPathsAreErrorsInMemory(kind: StoreKind) throws {
    let stack = try filled(kind)
    let context = try stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Plane")
      for path in ["colors.bodi", "colors.tail.strips"] {
        request.predicate = NSPredicate(format: "\(path) == 1")
        request.sortDescriptors = nil
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains("'\(path)'") == true)
        request.predicate = nil
        request.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)]
        #expect(throws: NSError.self) { try context.fetch(request) }
      }
      request.predicate = NSPredicate(format: "colors != nil AND colors.body != nil")
      request.sortDescriptors = [NSSortDescriptor(key: "colors.tail.stripes", ascending: true)]
      _ = try context.fetch(request)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func elementsAreValidated(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: try Self.model())
    let context = try stack.context()
    context.performAndWait {
      let plane = insert("Plane", ["colors": ["tail": ["stripes": 12]]], in: context)
      plane.setValue(nil, forKey: "wing")
      let error = context.saveError()
      #expect(
        error?.codes == [
          NSValidationMissingMandatoryPropertyError, NSValidationMissingMandatoryPropertyError,
          NSValidationNumberTooLargeError,
        ])
      let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      #expect(
        Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String })
          == ["colors.body", "colors.tail.stripes", "wing"])
      // The elements of a nil composite aren't required.
      plane.setValue(nil, forKey: "colors")
      plane.setValue(["span": 1.0], forKey: "wing")
      #expect(context.saveError() == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func dictionaryResultsContainComposites(kind: StoreKind) throws {
    let stack = try filled(kind)
    let context = try stack.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSDictionary>(entityName: "Plane")
      request.resultType = .dictionaryResultType
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let all = try context.fetch(request).map { $0 as? [String: Any] }
      #expect(text(all[0], "colors", "tail", "stripe") == "white")
      #expect(text(all[1], "colors", "body") == "blue")
      #expect(all[2]?["colors"] == nil)
      #expect(all[0]?.keys.contains { $0.contains(".") } == false)
      request.propertiesToFetch = ["colors.body", "field.spot.north"]
      let some = try context.fetch(request).map { $0 as? [String: Any] }
      #expect(some[0]?["colors.body"] as? String == "red")
      #expect(some[1]?["field.spot.north"] as? Double == 50)
    }
  }

  @Test func batchRequestsAcceptComposites() throws {
    let stack = try filled(.sqlite)
    let context = try stack.context()
    try context.performAndWait {
      try context.execute(
        NSBatchInsertRequest(
          entityName: "Plane",
          objects: [["name": "d", "colors": Self.paint], ["name": "e"]]))
      let update = NSBatchUpdateRequest(entityName: "Plane")
      update.predicate = NSPredicate(format: "colors.body == 'red'")
      update.propertiesToUpdate = ["colors": ["body": "black"], "wing.span": 1]
      update.resultType = .updatedObjectsCountResultType
      let result = try context.execute(update) as? NSBatchUpdateResult
      #expect(result?.result as? Int == 2)
      let planes = try context.all("Plane")
      #expect(
        planes.map { text($0.value(forKey: "colors"), "body") }
          == ["black", "blue", nil, "black", nil])
      #expect(text(planes[3].value(forKey: "colors"), "tail") == nil)
      #expect(text(planes[4].value(forKey: "wing"), "span") == "12.5")
      update.propertiesToUpdate = ["colors": ["bodi": "x"]]
      #expect(throws: NSError.self) { try context.execute(update) }
    }
  }

  @Test func historyRecordsTheCompositeAsUpdated() throws {
    let stack = try TestStack(model: try Self.model())
    let context = try stack.coldContext(options: [NSPersistentHistoryTrackingKey: true])
    try context.performAndWait {
      let plane = insert("Plane", ["colors": Self.paint], in: context)
      try context.save()
      plane.setValue("green", forKeyPath: "colors.body")
      try context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let transactions = result?.result as? [NSPersistentHistoryTransaction]
      let change = transactions?.last?.changes?.first
      #expect(change?.updatedProperties?.map(\.name) == ["colors"])
    }
  }

  @Test func elementCanBeIndexed() throws {
    let index = """
      <fetchIndex name="byBody"><fetchIndexElement property="colors.body" type="Binary"
          order="ascending"/></fetchIndex>
      <relationship name="field"
      """
    let model = try ModelDocument.read(
      data: Data(Self.document.replacing("<relationship name=\"field\"", with: index).utf8),
      file: "Planes")
    #expect(model.readerWarnings.isEmpty && model.validate().isEmpty)
    let made = SchemaBuilder(model: SQLModel(model: model)).indexes.map(\.sql)
    #expect(made.contains { $0.contains("Z_Plane_byBody") && $0.contains("ZCOLORS_BODY") })
  }

  @Test func copiedAndArchivedModelsKeepElements() throws {
    let model = try Self.model()
    let copy = try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    #expect(copy.outline == model.outline)
    let text = ModelDocument.text(of: copy).text
    #expect(try ModelDocument.read(data: Data(text.utf8), file: "Copy").outline == model.outline)
    let plane = try #require(model.entitiesByName["Plane"])
    #expect(
      plane.slotProperties.map(\.name) == [
        "colors.body", "colors.tail.stripe", "colors.tail.stripes", "name", "wing.made",
        "wing.span", "field",
      ])
  }

  @Test("A value is validated by the object at the end of the key path")
  func valuesAreValidatedByKeyPath() throws {
    let context = try GraphStack(.memory, model: Self.model()).context()
    context.performAndWait {
      let field = context.make("Field")
      let plane = context.make("Plane", ["field": field])
      func code(_ value: Any?, _ keyPath: String, of object: NSManagedObject) -> Int? {
        var value = value
        return thrownError { try object.validateValue(&value, forKeyPath: keyPath) }?.code
      }
      let tooLarge = NSValidationNumberTooLargeError
      #expect(code(10, "colors.tail.stripes", of: plane) == tooLarge)
      #expect(code(9, "colors.tail.stripes", of: plane) == nil)
      let missing = NSValidationMissingMandatoryPropertyError
      #expect(code(nil, "wing", of: plane) == missing)
      #expect(code("a", "field.name", of: plane) == nil)
      plane.setValue(nil, forKey: "field")
      #expect(code("a", "field.name", of: plane) == nil)
    }
  }
}
