import OpenCoreData
import Testing

@Suite("Tombstones of the persistent history")
struct TombstoneTests {
  @Test("A tombstone has a transformable value as its object had it, and none from a file")
  func tombstonesHaveValues() throws {
    let marker = NSEntityDescription()
    marker.name = "Marker"
    marker.properties = [
      TestModels.attribute("place", .transformableAttributeType),
      TestModels.attribute("small", .binaryDataAttributeType),
      TestModels.attribute("large", .binaryDataAttributeType),
    ].map { attribute in
      attribute.preservesValueInHistoryOnDeletion = true
      attribute.allowsExternalBinaryDataStorage = attribute.name != "place"
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [marker]
    let stack = try SharedStack(.sqlite, model, options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let (small, large) = (Data([1, 2]), Data(repeating: 3, count: 200_000))
      let object = context.make("Marker", ["place": ["a", "b"], "small": small, "large": large])
      try context.save()
      context.delete(object)
      try context.save()
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let result = try context.execute(request) as? NSPersistentHistoryResult
      let all = try #require(result?.result as? [NSPersistentHistoryTransaction])
      let tombstone = try #require(all.last?.changes?.first?.tombstone)
      #expect(tombstone["place"] as? [String] == ["a", "b"])
      #expect(tombstone["small"] as? Data == small)
      #expect(tombstone["large"] == nil && tombstone.count == 2)
    }
  }
}
