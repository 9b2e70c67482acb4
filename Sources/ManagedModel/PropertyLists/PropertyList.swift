/// Property lists as the values that Foundation has for them.
package enum PropertyList {
  /// Reads an XML or binary property list; nil for other data.
  ///
  /// The data can be untrusted: it's also nil for corrupt binary lists, for which Foundation's
  /// reader traps. Numbers are `NSNumber`s, as in Foundation.
  package static func read(_ bytes: some Collection<UInt8>) -> Any? {
    let bytes = Array(bytes)
    if bytes.starts(with: Array("bplist".utf8)) {
      return (try? BinaryPropertyList.read(bytes, limits: limits(for: bytes))).map(value)
    }
    // Foundation would read plain text as a list of the oldest form.
    guard bytes.first(where: { !$0.isBlank }) == UInt8(ascii: "<") else { return nil }
    return try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
  }

  /// Each value of a list has a byte at least, however many there are.
  package static func limits(for bytes: [UInt8]) -> BinaryPropertyList.Limits {
    var limits = BinaryPropertyList.Limits()
    limits.values = max(limits.values, bytes.count)
    return limits
  }

  private static func value(_ value: BinaryPropertyList.Value) -> Any {
    switch value {
    case .null: NSNull()
    case .bool(let flag): flag
    case .integer(let number): NSNumber(value: number)
    case .unsigned(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): Data(bytes)
    case .string(let text): text
    case .uid(let number): NSNumber(value: number)
    case .array(let values), .set(let values): values.map { Self.value($0) }
    case .dictionary(let values): values.mapValues { Self.value($0) }
    }
  }
}

extension UInt8 {
  /// A blank, a line end, or a byte of UTF-8's mark.
  fileprivate var isBlank: Bool {
    self == 0x20 || (0x09...0x0D).contains(self) || [0xEF, 0xBB, 0xBF].contains(self)
  }
}
