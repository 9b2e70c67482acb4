import Foundation
import Testing

@testable import ManagedModel

@Suite struct PropertyListTests {
  private static let values: [String: any Sendable] = [
    "text": "a < b", "number": -7, "large": Int64.max, "fraction": 0.25, "flag": true,
    "date": Date(timeIntervalSinceReferenceDate: 12), "bytes": Data([0, 255]),
    "list": ["one", 2, [String: String]()] as [any Sendable],
    "inner": ["key": Data(repeating: 7, count: 300)],
  ]

  private static func bytes(_ format: PropertyListSerialization.PropertyListFormat) throws
    -> [UInt8]
  {
    [UInt8](
      try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0))
  }

  @Test("XML and binary lists are read as by Foundation", arguments: [true, false])
  func xmlAndBinaryListsMatchFoundation(isBinary: Bool) throws {
    let bytes = try Self.bytes(isBinary ? .binary : .xml)
    let read = try #require(PropertyList.read(bytes) as? [String: Any])
    let expected = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
    #expect(read as NSDictionary == (expected as? [String: Any] ?? [:]) as NSDictionary)
    #expect(read["large"] as? Int64 == .max && read["number"] as? Int == -7)
    #expect(read["flag"] as? Bool == true && read["fraction"] as? Double == 0.25)
  }

  @Test("Lists are written so that Foundation reads the same values of the same types")
  func writtenListsMatchFoundation() throws {
    // Foundation converts the lists with flags of its own type, and -0.
    let sets: [[String: Any]] = [
      Self.values,
      ["text": "\u{E9}\u{1F600}", "number": 7, "flag": false, "bytes": Data([1]), "none": [Any]()],
      ["read": NSNumber(value: Int64.min), "flag": NSNumber(value: true), "small": Int16(3)],
      ["hashes": ["Mood": Data(repeating: 1, count: 32)], "identifiers": ["", "2"]],
      ["small": NSNumber(value: Int64(3)), "zeros": [0.0, -0.0], "infinite": Double.infinity],
    ]
    for values in sets {
      let written = Data(try PropertyList.write(values))
      let usual = try PropertyListSerialization.data(
        fromPropertyList: values, format: .binary, options: 0)
      let (own, expected) = try (
        PropertyListSerialization.propertyList(from: written, format: nil) as? NSDictionary,
        PropertyListSerialization.propertyList(from: usual, format: nil) as? NSDictionary
      )
      #expect(try #require(own) == #require(expected))
      // As XML, flags and numbers differ.
      let forms = try [own, expected].map {
        try PropertyListSerialization.data(fromPropertyList: #require($0), format: .xml, options: 0)
      }
      #expect(forms[0] == forms[1])
    }
    #expect(throws: (any Error).self) { try PropertyList.write(["url": URL(fileURLWithPath: "/")]) }
  }

  /// Foundation takes about 100 ns for each byte of data, and writes keys in any order.
  @Test("A list that was read is written without Foundation")
  func readListsAreWrittenWithoutFoundation() throws {
    let numbers: [BinaryPropertyList.Value] = [
      .integer(3), .integer(-70_000), .integer(.max), .real(0.25), .bool(true),
    ]
    let entries = (0..<40).map { ("key \($0)", numbers[$0 % numbers.count]) }
    let list = BinaryPropertyList.Value.dictionary(
      Dictionary(entries) { first, _ in first }
        .merging(["bytes": .data([1, 2]), "date": .date(12)]) { first, _ in first })
    let bytes = BinaryPropertyList.write(list)
    let read = try #require(PropertyList.read(bytes) as? [String: Any])
    #expect(try PropertyList.write(read) == bytes)
  }

  @Test("Data that isn't a property list is nil")
  func otherDataIsNil() throws {
    #expect(PropertyList.read(Array("{ plain = text; }".utf8)) == nil)
    #expect(PropertyList.read([]) == nil)
    #expect(PropertyList.read(Array("<plist>".utf8)) == nil)
    #expect(PropertyList.read(Array("\u{FEFF}\n".utf8) + (try Self.bytes(.xml))) != nil)
  }

  /// Foundation's reader crashes on some of these lists.
  @Test("Corrupt binary lists never trap")
  func corruptBinaryListsNeverTrap() throws {
    let valid = try Self.bytes(.binary)
    var lists = 0
    for index in valid.indices {
      for byte in [0, 0x0F, 0x80, 0xA1, 0xC2, 0xD1, 0xFF] as [UInt8] {
        var bytes = valid
        bytes[index] = byte
        if PropertyList.read(bytes) != nil { lists += 1 }
      }
      #expect(PropertyList.read(valid.prefix(index)) == nil)
    }
    #expect(lists > 0 && lists < valid.count * 7)
  }
}
