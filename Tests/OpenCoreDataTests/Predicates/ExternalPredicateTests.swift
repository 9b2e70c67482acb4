import OpenCoreData
import Testing

@Suite("External storage in predicates")
struct ExternalPredicateTests {
  private static let small = Data([1, 2, 3])
  private static let large = Data(repeating: 7, count: 100_001)

  /// The values of five photos in one album, by title.
  private static let values: [(String, Data?)] = [
    ("a", small), ("b", Data([1])), ("c", large), ("d", nil), ("e", Data()),
  ]

  private func stack(_ kind: StoreKind) throws -> SharedStack {
    let photo = SchemaModels.entity(
      "Photo",
      [
        SchemaModels.attribute("title", .stringAttributeType),
        SchemaModels.attribute("image", .binaryDataAttributeType),
        SchemaModels.attribute("copy", .binaryDataAttributeType),
      ])
    for name in ["image", "copy"] {
      photo.attributesByName[name]?.allowsExternalBinaryDataStorage = true
    }
    let album = SchemaModels.entity(
      "Album", [SchemaModels.attribute("title", .stringAttributeType)])
    SchemaModels.relate(album, "photos", many: true, photo, "album", many: false)
    let model = NSManagedObjectModel()
    model.entities = [photo, album]
    let stack = try SharedStack(kind, model)
    let context = stack.context()
    try context.performAndWait {
      let album = context.make("Album", ["title": "all"])
      for (title, value) in Self.values {
        let photo = context.make("Photo", ["title": title, "album": album])
        photo.setValue(value, forKey: "image")
        photo.setValue(value, forKey: "copy")
      }
      try context.save()
    }
    return stack
  }

  /// The titles of the photos that a predicate finds in a context without objects.
  private func titles(
    _ format: String, _ arguments: [any Sendable], by key: String = "title", in stack: SharedStack
  ) throws -> String {
    let context = stack.context()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Photo")
      request.predicate = NSPredicate(format: format, argumentArray: arguments)
      request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
      return try context.fetch(request)
        .compactMap { $0.value(forKey: "title") as? String }.joined()
    }
  }

  @Test(
    "Values in rows are compared for equality, and all with nil",
    arguments: StoreKind.allCases)
  func externalValuesInRowsAreCompared(kind: StoreKind) throws {
    let stack = try stack(kind)
    let cases: [(String, [any Sendable], String)] = [
      ("image == %@", [Self.small], "a"), ("%@ == image", [Self.small], "a"),
      ("image != %@ AND image != nil", [Self.small], "bce"), ("image == %@", [Data([1, 1])], ""),
      ("image == %@", [Data()], "e"), ("image == nil", [], "d"), ("image != nil", [], "abce"),
      ("image IN %@", [[Self.small, Data([1])]], "ab"),
      ("%@ CONTAINS image", [[Data(), Data([2])]], "e"),
      ("ANY album.photos.image == %@", [Self.small], "abcde"),
      ("ANY album.photos.image == %@", [Data([9])], ""),
    ]
    for (format, arguments, expected) in cases {
      let found = try titles(format, arguments, in: stack)
      #expect(found == expected, "\(format)")
    }
    // A file can't be compared in SQL.
    guard kind != .sqlite else { return }
    #expect(try titles("image == %@", [Self.large], in: stack) == "c")
  }

  @Test("A comparison that needs the contents of files is an error, also after a cached one")
  func comparisonsOfExternalFilesAreErrors() throws {
    let stack = try stack(.sqlite)
    #expect(try titles("image == %@", [Self.small], in: stack) == "a")
    let cases: [(String, [any Sendable], String)] = [
      ("image == %@", [Self.large], "values of more than 100000 bytes are in files"),
      ("image != %@", [Self.large], "values of more than 100000 bytes are in files"),
      ("image IN %@", [[Self.small, Self.large]], "values of more than 100000 bytes are in files"),
      ("image < %@", [Self.small], "Photo.image allows external storage"),
      ("image BETWEEN %@", [[Self.small, Self.small]], "Photo.image allows external storage"),
      ("image == copy", [], "Photo.image allows external storage"),
      ("image IN {copy}", [], "Photo.image allows external storage"),
      ("CAST(image, 'NSString') == 'x'", [], "Photo.image allows external storage"),
      ("max:(album.photos.image) == %@", [Self.small], "Photo.image allows external storage"),
      ("image CONTAINS 'x'", [], "Photo.image isn't a string"),
    ]
    for (format, arguments, message) in cases {
      let error = thrownError { _ = try titles(format, arguments, in: stack) }
      #expect(error?.code == NSCoreDataError, "\(format)")
      #expect(error?.localizedDescription.contains(message) == true, "\(format)")
    }
    let order = thrownError { _ = try titles("title != nil", [], by: "image", in: stack) }
    #expect(order?.localizedDescription.contains("Photo.image allows external storage") == true)
  }
}
