import ManagedModel
import OpenCoreData
import Testing

/// Entities with more properties than a word has bits.
@Suite("Wide entities")
struct WideEntityTests {
  private static let count = 150

  @Test(
    "Each of 150 properties is read, changed, saved, and rolled back",
    arguments: StoreKind.allCases)
  func everyPropertyIsReadChangedSavedAndRolledBack(kind: StoreKind) throws {
    let context = try GraphStack(kind, model: WideEntityTests.model()).context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
      for index in 0..<WideEntityTests.count { object.setValue(index, forKey: "value\(index)") }
      try context.save()
      let changed = stride(from: 3, to: WideEntityTests.count, by: 7).map { $0 }
      for index in changed { object.setValue(-index, forKey: "value\(index)") }
      #expect(Set(object.changedValues().keys) == Set(changed.map { "value\($0)" }))
      #expect(object.changedValuesForCurrentEvent().count == changed.count)
      context.processPendingChanges()
      object.setValue(1_000, forKey: "value143")
      #expect(object.changedValuesForCurrentEvent()["value143"] as? Int64 == -143)
      #expect(object.changedValues().count == changed.count)
      try context.save()
      #expect(object.changedValues().isEmpty)
      context.refresh(object, mergeChanges: false)
      for index in 0..<WideEntityTests.count where index != 143 {
        let expected = Int64(changed.contains(index) ? -index : index)
        #expect(object.value(forKey: "value\(index)") as? Int64 == expected)
      }
      #expect(object.value(forKey: "value143") as? Int64 == 1_000)
      object.setValue(7, forKey: "value100")
      context.rollback()
      #expect(object.value(forKey: "value100") as? Int64 == 100 && !object.hasChanges)
    }
  }

  @Test("Keys match regardless of Unicode composition")
  func keysMatchRegardlessOfUnicodeComposition() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Wide"
    entity.properties = ["größe", "a", "aVeryLongNameOfAProperty", "aVeryLongNameOfAPrapperty"].map
    {
      TestModels.attribute($0, .integer64AttributeType)
    }
    model.entities = [entity]
    let context = try GraphStack(.memory, model: model).context()
    context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
      object.setValue(4, forKey: "gro\u{308}ße")
      #expect(object.value(forKey: "größe") as? Int64 == 4)
      object.setValue(5, forKey: "aVeryLongNameOfAPrapperty")
      #expect(object.value(forKey: "aVeryLongNameOfAProperty") == nil)
      #expect(object.value(forKey: "a") == nil)
    }
  }

  @Test("A saved NaN isn't a change")
  func savedNaNIsNotAChange() throws {
    let context = try GraphStack(.memory, model: WideEntityTests.model()).context()
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Wide", into: context)
      try context.save()
      object.setValue(Double.nan, forKey: "ratio")
      #expect(object.changedValues().keys.sorted() == ["ratio"])
      try context.save()
      object.setValue(Double.nan, forKey: "ratio")
      #expect(object.changedValues().isEmpty)
      object.setValue(1, forKey: "value0")
      #expect(object.changedValues().keys.sorted() == ["value0"])
    }
  }

  private static func model() -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "Wide"
    entity.properties =
      (0..<count).map { TestModels.attribute("value\($0)", .integer64AttributeType) }
      + [TestModels.attribute("ratio", .doubleAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
