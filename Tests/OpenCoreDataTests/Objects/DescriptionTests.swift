import CoreDataCosts
import OpenCoreData
import Synchronization
import Testing

@Suite("Descriptions of objects")
struct DescriptionTests {
  @Test(
    "Objects that refer to each other are described with IDs, without a fault",
    arguments: StoreKind.allCases)
  func describesAnObjectWithRelatedObjectsAsIDs(kind: StoreKind) throws {
    let stack = try GraphStack(kind, model: KinshipModel.make())
    let writer = try stack.context()
    try writer.performAndWait {
      let ada = writer.make("Person", ["name": "Ada \"A\"\nLovelace"])
      let country = writer.make("Country", ["name": "England"])
      ada.setValue(ada, forKey: "spouse")
      ada.setValue(country, forKey: "residentOf")
      country.setValue(ada, forKey: "mayor")
      #expect(ada.description.contains("    children = (\n    );\n"))
      #expect(ada.description.contains("<x-coredata:///Country/t"))
      try writer.save()
    }
    let context = try stack.context()
    try context.performAndWait {
      let ada = try #require(try context.all("Person").first)
      let country = try #require(try context.all("Country").first)
      #expect(ada.description.hasSuffix("; data: <fault>)"))
      _ = (ada.value(forKey: "name"), country.value(forKey: "name"))
      func id(_ object: NSManagedObject) -> String {
        " <\(object.objectID.uriRepresentation().absoluteString)>"
      }
      let cost = costs(of: context) {
        let text = Self.withoutAddresses(ada.description)
        #expect(
          text == """
            <NSManagedObject: 0x> (entity: Person; id: 0x\(id(ada)); data: {
                befriendedBy = "<relationship fault: 0x 'befriendedBy'>";
                children = "<relationship fault: 0x 'children'>";
                citizenOf = nil;
                friends = "<relationship fault: 0x 'friends'>";
                idol = nil;
                managers = "<relationship fault: 0x 'managers'>";
                mayorOf = "0x\(id(country))";
                name = "Ada \\"A\\"\\nLovelace";
                parent = nil;
                reports = "<relationship fault: 0x 'reports'>";
                residentOf = "0x\(id(country))";
                spouse = "0x\(id(ada))";
                spouseOf = "0x\(id(ada))";
                visited = "<relationship fault: 0x 'visited'>";
            })
            """)
      }
      #expect(cost.faults == 0 && cost.selects == 0)
      _ = (ada.one("spouse"), ada.one("residentOf")?.set("residents"))
      ada.setValue(nil, forKey: "mayorOf")
      #expect(Self.withoutAddresses(ada.description).contains("    mayorOf = nil;\n"))
      #expect(
        Self.withoutAddresses(country.description)
          .contains("    residents = (\n        \"0x\(id(ada))\"\n    );\n"))
    }
  }

  @Test("Numbers, dates, data, and composite attributes are described by their values")
  func describesValuesOfAttributes() throws {
    let stack = try GraphStack(.memory, model: DrivingModel.make())
    let context = try stack.context()
    context.performAndWait {
      let driver = context.make(
        "Driver",
        [
          "name": "Ada", "age": Int16(-3), "height": 1.5, "hasLicence": true,
          "born": Date(timeIntervalSinceReferenceDate: 0), "storage": Data(repeating: 7, count: 20),
        ])
      let text = driver.description
      let bytes = String(repeating: "07", count: 16)
      for line in [
        "age = \"-3\"", "born = \"2001-01-01 00:00:00 +0000\"", "cars = (\n    )", "hasLicence = 1",
        "height = \"1.5\"", "name = Ada", "plate = nil",
        "storage = \"{length = 20, bytes = 0x\(bytes) ...}\"",
      ] {
        #expect(text.contains("    \(line);\n"), "\(line) in \(text)")
      }
    }
  }

  @Test("A fetch doesn't describe the objects of its predicate")
  func fetchDescribesNoObjects() throws {
    let stack = try GraphStack(.sqlite, model: DrivingModel.make(driver: DescribedDriver.self))
    let context = try stack.context()
    try context.performAndWait {
      let driver = context.make("Driver", ["name": "Ada"])
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Driver")
      request.predicate = NSPredicate(format: "self IN %@ AND self == %@", [driver], driver)
      #expect(try context.fetch(request) == [driver])
      #expect(DescribedDriver.count.load(ordering: .relaxed) == 0)
    }
  }

  private static func withoutAddresses(_ text: String) -> String {
    text.replacing(/0x[0-9a-f]+/, with: "0x")
  }
}

/// A driver that counts its descriptions.
private final class DescribedDriver: NSManagedObject {
  static let count = Atomic(0)

  override var description: String {
    Self.count.add(1, ordering: .relaxed)
    return super.description
  }
}
