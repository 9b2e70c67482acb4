import Testing

@testable import ManagedModel

@Suite struct HostileArchiveTests {
  static func document() throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data(ModelDocumentTests.document.utf8), file: "Zoo")
  }

  /// Reading an archive with random changes returns a model or throws an error.
  @Test(arguments: [1, 2, 3, 4])
  func corruptArchivesNeverTrap(seed: UInt64) throws {
    let bytes = ModelArchive.bytes(of: try Self.document())
    var random = SeededNumbers(seed: seed)
    var errors = 0
    for _ in 0..<150 {
      var corrupt = bytes
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        corrupt[Int.random(in: 0..<corrupt.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      do {
        let model = try ModelArchive.read(bytes: corrupt)
        _ = model.validate()
        _ = model.outline
        _ = try? ModelArchive.read(deflated: ModelArchive.write(model))
      } catch {
        errors += 1
      }
    }
    #expect(errors > 0)
  }

  @Test func truncatedArchivesAreErrors() throws {
    let deflated = ModelArchive.write(try Self.document())
    for count in stride(from: 0, to: deflated.count, by: 7) {
      #expect(throws: ModelError.self) {
        try ModelArchive.read(deflated: Array(deflated[..<count]))
      }
    }
  }

  @Test func oversizedArchivesAreErrors() {
    let bomb = RawDeflate.deflate([UInt8](repeating: 0, count: 80 << 20))
    #expect(bomb.count < 200_000)
    let error = #expect(throws: ModelError.self) { try ModelArchive.read(deflated: bomb) }
    #expect(error?.message == "The model in the store is larger than 64 MiB.")
  }

  /// An archive of a model with entities that are given by name, parent, and properties.
  ///
  /// Other objects follow at `otherObjects`, to which the entities and the root can refer.
  static func archive(
    _ entities: [(name: String, parent: Int?, fields: [String: BinaryPropertyList.Value])],
    root: [String: BinaryPropertyList.Value] = [:], others: [BinaryPropertyList.Value] = []
  ) -> [UInt8] {
    typealias Value = BinaryPropertyList.Value
    func uid(_ index: Int) -> Value { .uid(UInt32(index)) }
    let base = 5
    let kind: (String) -> Value = { .dictionary(["$classname": .string($0)]) }
    var objects: [Value] = [
      .string("$null"),
      .dictionary(["NSEntities": uid(2), "$class": uid(3)]),
      .dictionary([
        "NS.keys": .array(entities.indices.map { uid(base + 2 * $0) }),
        "NS.objects": .array(entities.indices.map { uid(base + 2 * $0 + 1) }), "$class": uid(4),
      ]),
      kind("NSManagedObjectModel"), kind("NSDictionary"),
    ]
    for entity in entities {
      var fields = entity.fields
      fields["NSEntityName"] = .string(entity.name)
      fields["$class"] = uid(4)
      fields["NSSuperentity"] = entity.parent.map { uid(base + 2 * $0 + 1) }
      objects += [.string(entity.name), .dictionary(fields)]
    }
    objects += others
    if case .dictionary(let fields) = objects[1] {
      objects[1] = .dictionary(fields.merging(root) { $1 })
    }
    return BinaryPropertyList.write(
      .dictionary(["$top": .dictionary(["root": uid(1)]), "$objects": .array(objects)]))
  }

  /// The number of the first of the other objects in an archive of so many entities.
  static func otherObjects(_ entities: Int) -> UInt32 { UInt32(5 + 2 * entities) }

  /// Lists that many objects share, and values that contain a list several times, have few bytes
  /// and many members.
  @Test func sharedListsOfAnArchiveAreLimited() throws {
    typealias Value = BinaryPropertyList.Value
    let count = 2_000
    let first = Self.otherObjects(count)
    func names(_ prefix: String) -> Value { .array((0..<count).map { .string("\(prefix)\($0)") }) }
    let index: Value = .dictionary(["NSIndexName": .string("i"), "$class": .uid(4)])
    let list = Value.array(Array(repeating: .uid(first + 1), count: count))
    let shared = Self.archive(
      (0..<count).map { ("E\($0)", nil, ["NSFetchIndexDescriptions": .uid(first)]) },
      others: [list, index])
    let configurations: Value = .dictionary([
      "NS.keys": names("C"), "NS.objects": .array(Array(repeating: .uid(first + 1), count: count)),
      "$class": .uid(4),
    ])
    let configured = Self.archive(
      (0..<count).map { ("E\($0)", nil, [:]) }, root: ["cdprof.configurations": .uid(first)],
      others: [configurations, names("E")])
    let start = Self.otherObjects(1)
    let levels = (1...30).map { level in
      Value.array([.uid(start + UInt32(level)), .uid(start + UInt32(level))])
    }
    let info: Value = .dictionary([
      "NS.keys": .array([.string("k")]), "NS.objects": .array([.uid(start)]), "$class": .uid(4),
    ])
    let doubled = Self.archive(
      [("E", nil, ["NSUserInfo": .uid(start + 31)])], others: levels + [.string("x"), info])
    for bytes in [shared, configured, doubled] {
      #expect(bytes.count < 200_000)
      let error = #expect(throws: ModelError.self) { try ModelArchive.read(bytes: bytes) }
      #expect(error?.message.contains("more than 1000000 members") == true)
    }
  }

  /// Objects can share a predicate or an expression, which is parsed for each of them.
  @Test func sharedExpressionsOfAnArchiveAreLimited() {
    let text = String(repeating: "a", count: 1 << 20)
    let bytes = Self.archive(
      (0..<5).map {
        ("E\($0)", nil, ["cdprof.coreSpotlightDisplayNameExpression": .uid(Self.otherObjects(5))])
      }, others: [.string(text)])
    let error = #expect(throws: ModelError.self) { try ModelArchive.read(bytes: bytes) }
    #expect(
      error?.message == "The predicates and expressions of the model have more than 4 MiB.")
  }

  @Test func urlsRelativeToThemselvesAreReadToALimitedDepth() throws {
    let start = Self.otherObjects(1)
    let info: BinaryPropertyList.Value = .dictionary([
      "NS.keys": .array([.string("k")]), "NS.objects": .array([.uid(start + 1)]),
      "$class": .uid(4),
    ])
    let url: BinaryPropertyList.Value = .dictionary([
      "NS.base": .uid(start + 1), "NS.relative": .string("a"), "$class": .uid(start + 2),
    ])
    let bytes = Self.archive(
      [("E", nil, ["NSUserInfo": .uid(start)])],
      others: [info, url, .dictionary(["$classname": .string("NSURL")])])
    let model = try ModelArchive.read(bytes: bytes)
    #expect(model.entitiesByName["E"]?.userInfo?["k"] is URL)
  }

  @Test(
    arguments: [
      ("a cycle", 3, { @Sendable in ($0 + 1) % 3 }),
      ("a chain", 9_000, { @Sendable in $0 + 1 < 9_000 ? $0 + 1 : nil }),
      ("too many", 20_000, { @Sendable _ in nil }),
    ] as [(String, Int, @Sendable (Int) -> Int?)])
  func cyclicDeepAndHugeHierarchiesAreErrors(
    name: String, count: Int, parent: @Sendable (Int) -> Int?
  ) {
    let bytes = Self.archive((0..<count).map { ("E\($0)", parent($0), [:]) })
    #expect(throws: ModelError.self, "\(name)") { try ModelArchive.read(bytes: bytes) }
  }

  @Test func allWarningsOfACompiledModelAreReported() throws {
    let model = try Self.document()
    let animal = try #require(model.entitiesByName["Animal"])
    animal.attributesByName["a16"]?.name = "first"
    // An unknown attribute type, and a missing destination.
    let bytes = ModelArchive.bytes(of: model)
    guard case .dictionary(var top) = try BinaryPropertyList.read(bytes),
      case .array(var objects)? = top["$objects"]
    else {
      Issue.record("no archive")
      return
    }
    for index in objects.indices {
      guard case .dictionary(var fields) = objects[index] else { continue }
      if fields["NSAttributeType"] == .integer(100) { fields["NSAttributeType"] = .integer(101) }
      if fields["NSDeleteRule"] == .integer(3) {
        fields["NSDestinationEntity"] = .uid(0)
        fields["_NSDestinationEntityName"] = .uid(0)
      }
      objects[index] = .dictionary(fields)
    }
    top["$objects"] = .array(objects)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Zoo.mom")
    try Data(BinaryPropertyList.write(.dictionary(top))).write(to: file)
    let read = try NSManagedObjectModel.read(contentsOf: file)
    let lines = read.readerWarnings.map(\.description)
    #expect(read.entitiesByName["Animal"]?.attributesByName["first"]?.attributeType.rawValue == 0)
    // The inverse of the relationship without a destination is also invalid.
    #expect(lines.count == 3 && lines.last?.contains("as its own inverse") == true)
    #expect(lines.allSatisfy { $0.hasPrefix("\(file.path): warning: Animal.") })
    #expect(lines.first?.contains("Animal.first: The compiled model contains the unknown") == true)
    #expect(lines.dropFirst().first?.contains("Animal.mother: ") == true)
  }

  @Test func rejectsFilesThatAreNotModels() {
    let other = BinaryPropertyList.write(
      .dictionary([
        "$top": .dictionary(["root": .uid(1)]),
        "$objects": .array([
          .string("$null"), .dictionary(["$class": .uid(2)]),
          .dictionary(["$classname": .string("NSDate")]),
        ]),
      ]))
    let error = #expect(throws: ModelError.self) { try ModelArchive.read(bytes: other) }
    #expect(error?.message == "The archive contains NSDate, not a model.")
    #expect(throws: ModelError.self) { try ModelArchive.read(bytes: [1, 2, 3]) }
  }
}
