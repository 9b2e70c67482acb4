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

/// A value of a class of the program.
private final class Tint: NSObject, @unchecked Sendable {  // immutable
  let name: String

  init(_ name: String) {
    self.name = name
  }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? Tint)?.name == name
  }

  override var hash: Int { name.hashValue }
}

/// Transforms a tint to the bytes of its name in reverse order.
private final class PackedTint: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? Tint).map { Data($0.name.utf8.reversed()) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { Tint(String(decoding: $0.reversed(), as: UTF8.self)) }
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
    let values = Self.firstBytes.map { name, first in
      (name, first.map { key($0) as any Sendable })
    }
    let stack = try stack(kind, "PackedKey", values)
    let cases: [(String, [any Sendable], String)] = [
      ("key == %@", [key(0x80)], "c"), ("key == %@", [UUID()], ""),
      ("key < %@", [key(0x80)], "ab"), ("key >= %@", [key(0x80)], "cd"),
      ("key != nil", [], "abcd"), ("key == nil", [], "e"),
      ("key IN %@", [[key(0x10), key(0xFF)]], "ad"),
    ]
    for (format, arguments, expected) in cases {
      let found = try names(format, arguments, in: stack)
      #expect(found == expected, "\(format)")
    }
  }

  /// A store with a person for each name, whose key is the value with it.
  private func stack(
    _ kind: StoreKind, _ transformer: String?, _ values: [(String, (any Sendable)?)]
  ) throws -> SharedStack {
    let person = SchemaModels.entity(
      "Person",
      [
        SchemaModels.attribute("name", .stringAttributeType),
        SchemaModels.attribute("key", .transformableAttributeType),
      ])
    person.attributesByName["key"]?.valueTransformerName = transformer
    let model = NSManagedObjectModel()
    model.entities = [person]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    try context.performAndWait {
      for (name, value) in values {
        let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
        person.setValue(name, forKey: "name")
        person.setValue(value, forKey: "key")
      }
      try context.save()
    }
    return stack
  }

  /// The names of the persons that a predicate finds in a context without objects.
  private func names(
    _ format: String, _ arguments: [any Sendable], in stack: SharedStack
  ) throws -> String {
    let context = stack.context()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: format, argumentArray: arguments)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.joined()
    }
  }

  @Test(
    "A value of any class is compared by its transformed bytes, in lists of any length",
    arguments: StoreKind.allCases)
  func constantsAreTransformed(kind: StoreKind) throws {
    ValueTransformer.setValueTransformer(
      PackedTint(), forName: NSValueTransformerName("PackedTint"))
    let values: [(String, (any Sendable)?)] = [
      ("red", Tint("red")), ("green", Tint("green")), ("blue", Tint("blue")), ("none", nil),
    ]
    let stack = try stack(kind, "PackedTint", values)
    let cases: [(String, [any Sendable], String)] = [
      ("key == %@", [Tint("red")], "red"), ("%@ == key", [Tint("der")], ""),
      ("key != %@ AND key != nil", [Tint("red")], "bluegreen"),
      ("key IN %@", [[Tint("red")]], "red"),
      ("key IN %@", [[Tint("pink"), Tint("red"), Tint("blue")]], "bluered"),
      ("%@ CONTAINS key", [[Tint("pink"), Tint("green")]], "green"),
    ]
    for (format, arguments, expected) in cases {
      let found = try names(format, arguments, in: stack)
      #expect(found == expected, "\(format)")
    }
  }

  @Test("In SQL, an archived value is compared with nil only; data that isn't archived, with data")
  func archivesAreComparedWithNilOnly() throws {
    let id = key(1)
    for kind in [StoreKind.sqlite, .memory] {
      let archived = try stack(
        kind, "NSSecureUnarchiveFromData", [("a", id), ("b", Data([1])), ("c", nil)])
      #expect(try names("key != nil", [], in: archived) == "ab")
      #expect(try names("key == nil", [], in: archived) == "c")
      if kind == .memory { #expect(try names("key == %@", [id], in: archived) == "a") }
      let unnamed = try stack(kind, nil, [("a", Data([1])), ("b", Data([2])), ("c", id)])
      #expect(try names("key == %@", [Data([1])], in: unnamed) == "a")
      #expect(try names("key IN %@", [[Data([2]), Data([3])]], in: unnamed) == "b")
      guard kind == .sqlite else { continue }
      let values: [any Sendable] = [id, Data([1]), "a", 80, Tint("red")]
      for value in values {
        for format in ["key == %@", "key < %@", "key IN {%@}"] {
          let error = thrownError { _ = try names(format, [value], in: archived) }
          #expect(error?.code == NSCoreDataError, "\(format) \(value)")
          #expect(
            error?.localizedDescription.contains("can't be compared with Person.key") == true,
            "\(format) \(value)")
        }
      }
      let error = thrownError { _ = try names("key == %@", [id], in: unnamed) }
      #expect(error?.code == NSCoreDataError)
    }
  }
}
