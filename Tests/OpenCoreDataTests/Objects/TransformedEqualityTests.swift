import Testing

@testable import OpenCoreData

@Suite("Equality of transformable values")
struct TransformedEqualityTests {
  @Test("Values that differ beyond a double's precision, or in their bytes, are changes")
  func valuesAreComparedExactly() {
    let large: Int64 = 9_007_199_254_740_992
    let decimal = Decimal(string: "12345678901234567890.5") ?? 0
    let different: [(Any, Any)] = [
      (large, large + 1), ([large], [large + 1]), (["a": large], ["a": large + 1]),
      (NSNumber(value: large), NSNumber(value: large + 1)), (UInt64.max, UInt64.max - 1),
      (decimal + 1, decimal + 2),
      ("\u{E9}", "e\u{301}"), (["\u{E9}"], ["e\u{301}"]), (1, 1.5), (1, "1"),
    ]
    for (first, second) in different {
      #expect(!AttributeTransformer.areEqual(first, second), "\(first), \(second)")
      #expect(AttributeTransformer.areEqual(first, first), "\(first)")
    }
    let equal: [(Any, Any)] = [
      (1, 1.0), (large, NSNumber(value: large)), (UInt64.max, NSNumber(value: UInt64.max)),
      (Double.nan, Double.nan), (Int16(5), 5), (Decimal(2), 2), (true, NSNumber(value: true)),
      ([1, [2.0]] as [Any], [1, [2]] as [Any]),
    ]
    for (first, second) in equal {
      #expect(AttributeTransformer.areEqual(first, second), "\(first), \(second)")
    }
  }

  @Test("An NSData is saved and read as Data", arguments: StoreKind.allCases)
  func foundationDataIsSavedAsData(kind: StoreKind) throws {
    let entity = NSEntityDescription()
    entity.name = "Note"
    let archived = TestModels.attribute("archived", .transformableAttributeType)
    archived.valueTransformerName = "NSSecureUnarchiveFromData"
    entity.properties = [
      archived, TestModels.attribute("plain", .transformableAttributeType),
      TestModels.attribute("bytes", .binaryDataAttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try GraphStack(kind, model: model).context()
    try context.performAndWait {
      for count in [1, 100_000] {
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        for object in [NSData(data: data), NSMutableData(data: data)] {
          let note = context.make(
            "Note", ["archived": object, "plain": object, "bytes": object])
          try context.save()
          context.refresh(note, mergeChanges: false)
          #expect(note.value(forKey: "archived") as? Data == data)
          #expect(note.value(forKey: "plain") as? Data == data)
          #expect(note.value(forKey: "bytes") as? Data == data)
        }
      }
    }
    for object in [Data([1, 2]), NSData(data: Data([1, 2]))] as [Any] {
      #expect(Data(value: object) == Data([1, 2]))
    }
    #expect(Data(value: "text") == nil && Data(value: [1]) == nil)
  }

  @Test("A large integer that differs by one is saved", arguments: StoreKind.allCases)
  func largeIntegerIsSaved(kind: StoreKind) throws {
    let entity = NSEntityDescription()
    entity.name = "Note"
    entity.properties = [TestModels.attribute("numbers", .transformableAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try GraphStack(kind, model: model)
    let context = try stack.context()
    try context.performAndWait {
      let note = context.make("Note", ["numbers": [9_007_199_254_740_992]])
      try context.save()
      note.setValue([9_007_199_254_740_993], forKey: "numbers")
      #expect(note.changedValues().keys.sorted() == ["numbers"])
      try context.save()
      context.refresh(note, mergeChanges: false)
      #expect(note.value(forKey: "numbers") as? [Int] == [9_007_199_254_740_993])
    }
  }
}
