import Testing

@testable import ManagedModel

@Suite struct BinaryPropertyListTests {
  static let values: [BinaryPropertyList.Value] = [
    .bool(true), .integer(0), .integer(255), .integer(256), .integer(65_536), .integer(-1),
    .integer(.max), .integer(.min), .integer(5_000_000_000), .unsigned(.max), .real(-1.5),
    .date(600), .data([]), .data(Array(repeating: 7, count: 300)), .string(""), .string("abc"),
    .string("äöü 🦁"), .string(String(repeating: "x", count: 70_000)), .uid(0), .uid(70_000),
    .array([]), .array((0..<300).map { .integer($0) }),
    .dictionary(["a": .array([.dictionary(["b": .null])]), "ä": .set([.uid(5)])]),
  ]

  @Test(arguments: values)
  func valuesRoundTrip(_ value: BinaryPropertyList.Value) throws {
    let list = BinaryPropertyList.Value.dictionary(["root": .array([value, value])])
    #expect(try BinaryPropertyList.read(BinaryPropertyList.write(list)) == list)
  }

  @Test func foundationReadsWrittenLists() throws {
    let list = BinaryPropertyList.Value.dictionary([
      "text": .string("ä"), "number": .integer(70_000), "flag": .bool(false), "real": .real(2.5),
      "date": .date(600), "data": .data([1, 2]), "list": .array([.integer(-3)]),
    ])
    let data = Data(BinaryPropertyList.write(list))
    let read = try PropertyListSerialization.propertyList(from: data, format: nil)
    let dictionary = try #require(read as? [String: Any])
    #expect(dictionary["text"] as? String == "ä")
    #expect(dictionary["number"] as? Int == 70_000)
    #expect(dictionary["flag"] as? Bool == false)
    #expect(dictionary["real"] as? Double == 2.5)
    #expect(dictionary["date"] as? Date == Date(timeIntervalSinceReferenceDate: 600))
    #expect(dictionary["data"] as? Data == Data([1, 2]))
    #expect(dictionary["list"] as? [Int] == [-3])
  }

  @Test func readsFoundationsPropertyLists() throws {
    let object: [String: Any] = ["list": ["ä", 1, 2.5, true], "data": Data([9])]
    let data = try PropertyListSerialization.data(
      fromPropertyList: object, format: .binary, options: 0)
    #expect(
      try BinaryPropertyList.read(Array(data))
        == .dictionary([
          "list": .array([.string("ä"), .integer(1), .real(2.5), .bool(true)]),
          "data": .data([9]),
        ]))
  }

  /// A property list of encoded objects; the first is the root.
  static func list(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    let offsets = objects.map { object in
      bytes += object
      return UInt8(bytes.count - object.count)
    }
    let table = UInt8(bytes.count)
    bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in [UInt8(objects.count), 0, table] { bytes += [0, 0, 0, 0, 0, 0, 0, number] }
    return bytes
  }

  static let hostile: [(String, [UInt8])] = [
    ("nothing", []),
    ("another file", Array(repeating: 65, count: 100)),
    ("an array that contains itself", list([[0xA1, 0]])),
    ("a dictionary that is its own key", list([[0xD1, 0, 0]])),
    (
      "an array longer than the file",
      list([[0xAF, 0x13, 0x7F, 255, 255, 255, 255, 255, 255, 255]])
    ),
    ("a string longer than the file", list([[0x5F, 0x11, 255, 255]])),
    ("a length that isn't a number", list([[0x4F, 0x51, 65]])),
    ("a reference outside", list([[0xA1, 9]])),
    ("an unknown marker", list([[0x70]])),
    ("a number of 16 bytes", list([[0x14] + [UInt8](repeating: 1, count: 16)])),
    ("a UID of 16 bytes", list([[0x8F] + [UInt8](repeating: 1, count: 16)])),
    // 19 arrays of eight references to the next one: 8 to the power of 19 values.
    (
      "arrays that multiply",
      list((0..<19).map { [0xA8] + [UInt8](repeating: $0 + 1, count: 8) } + [[0x09]])
    ),
  ]

  @Test(arguments: hostile.indices)
  func hostileListsAreErrors(_ index: Int) {
    let (name, bytes) = Self.hostile[index]
    #expect(throws: BinaryPropertyList.Failure.self, "\(name)") {
      try BinaryPropertyList.read(bytes)
    }
  }

  @Test func deeplyNestedListsAreErrors() {
    let deep = (0..<100).reduce(BinaryPropertyList.Value.null) { value, _ in .array([value]) }
    #expect(throws: BinaryPropertyList.Failure.self) {
      try BinaryPropertyList.read(BinaryPropertyList.write(deep))
    }
  }
}
