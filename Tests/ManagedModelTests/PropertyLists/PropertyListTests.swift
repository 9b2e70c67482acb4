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
