import OpenCoreData
import Testing

@testable import OpenCoreData

/// Writes a set of indexes as text.
private final class IndexSetTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? IndexSet).map { set in
      Data(set.map { "\($0)" }.joined(separator: ",").utf8)
    }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { bytes in
      IndexSet(String(decoding: bytes, as: UTF8.self).split(separator: ",").compactMap { Int($0) })
    }
  }

  static func register(_ names: String...) {
    for name in names {
      ValueTransformer.setValueTransformer(
        IndexSetTransformer(), forName: NSValueTransformerName(name))
    }
  }
}

@Suite("Migration of transformable attributes by a manager")
struct TransformableMigrationTests {
  private typealias Sample = LightweightMigrationTests

  private static func model(
    _ transformer: String, isExternal: Bool = false, _ more: String...
  ) -> NSManagedObjectModel {
    Sample.model { person, _ in
      let tags = Sample.attribute("tags", .transformableAttributeType)
      tags.valueTransformerName = transformer
      tags.allowsExternalBinaryDataStorage = isExternal
      person.properties.append(tags)
      for name in more { person.properties.append(Sample.attribute(name, .stringAttributeType)) }
    }
  }

  @Test(
    "A value keeps its type, whether or not the transformer's name changes or it's stored externally",
    arguments: ["Indexes", "RenamedIndexes"], [false, true])
  func valuesKeepTheirTypes(later: String, isExternal: Bool) throws {
    IndexSetTransformer.register("Indexes", "RenamedIndexes")
    let before = Self.model("Indexes", isExternal: isExternal)
    let after = Self.model(later, isExternal: isExternal, "note")
    let (source, destination) = (try Sample.store(before), try MigratedStore())
    func tags(_ context: NSManagedObjectContext, set: IndexSet? = nil) throws -> [IndexSet?] {
      try context.performAndWait {
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        if let set { for person in people { person.setValue(set, forKey: "tags") } }
        try context.save()
        return people.map { $0.value(forKey: "tags") as? IndexSet }
      }
    }
    let context = try source.open(before)
    _ = try tags(context, set: [2, 5])
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: before, destinationModel: after)
    try NSMigrationManager(sourceModel: before, destinationModel: after).migrateStore(
      from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    let found = try tags(destination.open(after, options: nil))
    #expect(found.count == 3)
    #expect(found.allSatisfy { $0 == IndexSet([2, 5]) })
  }

  @Test("A value that the transformer can't convert is an error, and isn't lost")
  func unconvertibleValuesAreErrors() throws {
    IndexSetTransformer.register("Indexes")
    let after = Self.model("Indexes")
    let (source, destination) = (try Sample.store(), try MigratedStore())
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: Sample.model(), destinationModel: after)
    for property in mapping.entityMappings.flatMap({ $0.attributeMappings ?? [] })
    where property.name == "tags" {
      property.valueExpression = NSExpression(format: "$source.name")
    }
    let error = thrownError {
      try NSMigrationManager(sourceModel: Sample.model(), destinationModel: after).migrateStore(
        from: source.url, type: .sqlite, mapping: mapping, to: destination.url, type: .sqlite)
    }
    #expect(error?.code == NSValidationMultipleErrorsError)
    let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
    #expect(details.count == 3)
    #expect(details.allSatisfy { $0.userInfo[NSValidationKeyErrorKey] as? String == "tags" })
    #expect(try destination.contents().isEmpty)
  }
}
