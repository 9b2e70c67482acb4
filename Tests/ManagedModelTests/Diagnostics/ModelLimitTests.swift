import Testing

@testable import ManagedModel

@Suite("Models beyond a limit are rejected with the limit")
struct ModelLimitTests {
  private static func message(_ elements: String) -> String? {
    let document = "<?xml version=\"1.0\"?><model>\(elements)</model>"
    let error = #expect(throws: ModelErrors.self) {
      try ModelDocument.read(data: Data(document.utf8), file: "Zoo")
    }
    return error?.errors.first?.message
  }

  @Test func documentsAreLimited() {
    #expect(
      Self.message(String(repeating: "<a>", count: 64))
        == "The elements are nested more than 64 levels deep.")
    #expect(
      Self.message(String(repeating: "<a/>", count: 500_000))
        == "The document has more than 500000 elements.")
  }

  @Test func entitiesAndPropertiesAreLimited() {
    let entities = (0...10_000).map { "<entity name=\"E\($0)\"/>" }.joined()
    #expect(Self.message(entities) == "The model has more than 10000 entities.")
    let attributes = (0..<1_000).map { "<attribute name=\"a\($0)\" attributeType=\"Date\"/>" }
    let children = (0..<500).map { "<entity name=\"E\($0)\" parentEntity=\"Root\"/>" }
    #expect(
      Self.message("<entity name=\"Root\">\(attributes.joined())</entity>\(children.joined())")
        == "The model has more than 500000 properties.")
  }

  @Test func predicatesAreLimited() {
    let key = String(repeating: "a", count: 2 << 20)
    let indexes = ["i", "j", "k"].map {
      "<fetchIndex name=\"\($0)\" partialIndexPredicate=\"\(key)\"/>"
    }
    let requests = ["i", "j", "k"].map {
      "<fetchRequest name=\"\($0)\" entity=\"E\" predicateString=\"\(key)\"/>"
    }
    for contents in [
      "<entity name=\"E\">\(indexes.joined())</entity>",
      "<entity name=\"E\"/>\(requests.joined())",
    ] {
      #expect(
        Self.message(contents)
          == "The predicates and expressions of the model have more than 4 MiB.")
    }
  }

  @Test func archivedFetchRequestsAreLimited() {
    let entity = NSEntityDescription()
    entity.name = "E"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let format = String(repeating: "a", count: 1 << 20)
    model.fetchRequestTemplates = (0..<5).map {
      FetchRequestTemplate(name: "r\($0)", entityName: "E", predicateFormat: format)
    }
    let error = #expect(throws: ModelError.self) {
      try ModelArchive.read(bytes: ModelArchive.bytes(of: model))
    }
    #expect(
      error?.message == "The predicates and expressions of the model have more than 4 MiB.")
  }

  /// Files of zeros, one byte longer than the limit.
  @Test(arguments: [
    ("Zoo.xcdatamodel/contents", "Zoo.xcdatamodel", 64), ("Zoo.mom", "Zoo.mom", 64),
    ("Zoo.xcdatamodeld/.xccurrentversion", "Zoo.xcdatamodeld", 1),
    ("Zoo.cdm", "Zoo.cdm", 64), ("Zoo.xcmappingmodel/xcmapping.xml", "Zoo.xcmappingmodel", 64),
  ])
  func filesAreLimited(file: String, opened: String, mebibytes: Int) throws {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? files.removeItem(at: folder) }
    let url = folder.appendingPathComponent(file)
    try files.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    // The list of versions is read if there are versions.
    try files.createDirectory(
      at: folder.appendingPathComponent("Zoo.xcdatamodeld/Zoo.xcdatamodel"),
      withIntermediateDirectories: true)
    #expect(
      files.createFile(
        atPath: folder.appendingPathComponent("Zoo.xcdatamodeld/Zoo.xcdatamodel/contents").path,
        contents: Data("<model/>".utf8)))
    #expect(files.createFile(atPath: url.path, contents: nil))
    #expect(truncate(url.path, (mebibytes << 20) + 1) == 0)
    let error = #expect(throws: ModelErrors.self) {
      let model = folder.appendingPathComponent(opened)
      if opened.contains("cdm") || opened.contains("mapping") {
        _ = try NSMappingModel.read(contentsOf: model)
      } else {
        _ = try NSManagedObjectModel.read(contentsOf: model)
      }
    }
    #expect(
      error?.errors.first?.message
        == "The file is larger than \(mebibytes) MiB, too large for a model.")
  }

  // MARK: Archives

  private typealias Value = BinaryPropertyList.Value

  /// Returns an archive of objects after `$null`; the first is the root.
  private static func archive(_ objects: [Value]) throws -> MappingArchive {
    try MappingArchive(
      BinaryPropertyList.write(
        .dictionary([
          "$top": .dictionary(["root": .uid(1)]), "$objects": .array([.string("$null")] + objects),
        ])))
  }

  private static func name(_ name: String) -> Value { .dictionary(["$classname": .string(name)]) }

  /// A list that contains one object more often than the limit.
  private static let list = Value.dictionary([
    "$class": .uid(2),
    "NS.objects": .array(Array(repeating: .uid(4), count: 100_001)),
  ])

  @Test func mappingsAreLimited() throws {
    let entities = try Self.archive([
      .dictionary(["$class": .uid(2), "NSEntityMappings": .uid(3)]), Self.name("NSMappingModel"),
      Self.list, .dictionary(["$class": .uid(2)]),
    ])
    let properties = try Self.archive([
      .dictionary(["$class": .uid(2), "NSEntityMappings": .uid(5)]), Self.name("NSMappingModel"),
      Self.list, .dictionary(["$class": .uid(2)]),
      .dictionary(["$class": .uid(2), "NS.objects": .array([.uid(6)])]),
      .dictionary([
        "$class": .uid(2), "NSMappingName": .string("Mood"), "NSAttributeMappings": .uid(3),
      ]),
    ])
    for (archive, expected) in [
      (entities, "The archive has more than 100000 entity mappings."),
      (properties, "The mapping Mood has more than 100000 properties."),
    ] {
      let error = #expect(throws: ModelError.self) { try archive.mappingModel() }
      #expect(error?.message == expected)
    }
  }

  /// A function whose operand is the function itself.
  @Test func expressionsAreLimited() throws {
    let archive = try Self.archive([
      .dictionary([
        "$class": .uid(2), "NSExpressionType": .integer(4), "NSSelectorName": .string("self"),
        "NSOperand": .uid(1),
      ]), Self.name("NSFunctionExpression"),
    ])
    let error = #expect(throws: ModelError.self) { try archive.expression() }
    #expect(error?.message == "An expression is nested more than 64 levels deep.")
  }

  /// Returns a list that contains an array of Boolean values, which are one object.
  private static func array(of count: Int) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt64(value).bigEndian) { Array($0) }
    }
    var bytes = Array("bplist00".utf8)
    let start = bytes.count
    bytes += [0xAF, 0x13]
    bytes += number(count)
    bytes += [UInt8](repeating: 1, count: count)
    let element = bytes.count
    bytes.append(0x09)
    let table = bytes.count
    // The offsets have eight bytes, and the references one.
    for offset in [start, element] { bytes += number(offset) }
    bytes += [0, 0, 0, 0, 0, 0, 8, 1]
    for value in [2, 0, table] { bytes += number(value) }
    return bytes
  }

  @Test func propertyListsAreLimited() throws {
    let pair = try BinaryPropertyList.read(Self.array(of: 2))
    #expect(pair == .array([.bool(true), .bool(true)]))
    let deep = (0..<65).reduce(Value.null) { value, _ in .array([value]) }
    for (bytes, expected) in [
      (BinaryPropertyList.write(deep), "The list is nested more than 64 levels deep."),
      (Self.array(of: 1_000_000), "The list has more than 1000000 values."),
    ] {
      let error = #expect(throws: BinaryPropertyList.Failure.self) {
        try BinaryPropertyList.read(bytes)
      }
      #expect(error?.message == expected)
    }
  }
}
