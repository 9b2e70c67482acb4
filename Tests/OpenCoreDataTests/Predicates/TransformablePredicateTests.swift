import CoreDataCosts
import OpenCoreData
import Testing

/// Transforms a UUID to its 16 bytes.
private final class PackedKey: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? UUID).map { key in withUnsafeBytes(of: key.uuid) { Data($0) } }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let bytes = value as? Data, bytes.count == 16 else { return nil }
    return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}

@Suite("Transformable values in predicates")
struct TransformablePredicateTests {
  /// The first byte of each person's key.
  private static let firstBytes: [(String, UInt8?)] = [
    ("a", 0x10), ("b", 0x7F), ("c", 0x80), ("d", 0xFF), ("e", nil),
  ]

  private func key(_ first: UInt8) -> UUID {
    UUID(uuid: (first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
  }

  @Test("S12-22 transformable values compare as their bytes", arguments: StoreKind.allCases)
  func transformablesCompareAsTheirBytes(kind: StoreKind) throws {
    ValueTransformer.setValueTransformer(
      PackedKey(), forName: NSValueTransformerName("PackedKey"))
    let person = SchemaModels.entity(
      "Person",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("key", .transformableAttributeType),
      ])
    person.attributesByName["key"]?.valueTransformerName = "PackedKey"
    let model = NSManagedObjectModel()
    model.entities = [person]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    try context.performAndWait {
      for (name, first) in Self.firstBytes {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        person.setValue(first.map(key), forKey: "key")
      }
      try context.save()
    }
    let cases: [(String, [any Sendable], String)] = [
      ("key == %@", [key(0x80)], "c"), ("key == %@", [UUID()], ""),
      ("key < %@", [key(0x80)], "ab"), ("key >= %@", [key(0x80)], "cd"),
      ("key != nil", [], "abcd"), ("key == nil", [], "e"),
      ("key IN %@", [[key(0x10), key(0xFF)]], "ad"),
    ]
    for (format, arguments, names) in cases {
      let reader = stack.context()
      try reader.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let found = try reader.fetch(request)
        #expect(
          found.compactMap { $0.value(forKey: "name") as? String }.joined() == names, "\(format)")
      }
    }
  }
}
