import OpenCoreData
import Testing

@Suite("Updated properties in the persistent history")
struct UpdatedPropertiesTests {
  /// The names of the updated properties of each update in the last transaction, by entity.
  private func updates(_ context: NSManagedObjectContext) throws -> [String: Set<String>] {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    let all = try #require(result?.result as? [NSPersistentHistoryTransaction])
    var found: [String: Set<String>] = [:]
    for change in all.last?.changes ?? [] where change.changeType == .update {
      let name = change.changedObjectID.entity.name ?? ""
      found[name, default: []].formUnion((change.updatedProperties ?? []).map(\.name))
    }
    return found
  }

  @Test("A row that the overwrite policy writes has all properties, also changed to-many ones")
  func overwrittenRowsHaveChangedToManyRelationships() throws {
    let stack = try SharedStack(
      .sqlite, TestModels.library(), options: [NSPersistentHistoryTrackingKey: true])
    let (first, second) = (stack.context(), stack.context(.overwrite))
    try first.performAndWait {
      let article = first.make("Article", ["string": "old"])
      let tag = first.make("Tag", ["name": "A"])
      try first.save()
      try second.performAndWait {
        second.twin(of: article).setValue(Set([second.twin(of: tag)]), forKey: "tags")
        article.setValue("new", forKey: "string")
        try first.save()
        try second.save()
        let updates = try updates(second)
        #expect(updates["Article"]?.isSuperset(of: ["string", "date", "tags"]) == true)
        #expect(updates["Tag"] == ["articles"])
      }
    }
  }
}
