extension KeyedArchive {
  private static let maximumDepth = 32

  /// The Swift value of an archived text, number, date, byte, UUID, URL, list or dictionary.
  ///
  /// It is nil for nothing and for classes that are not known.
  func anyValue(_ value: BinaryPropertyList.Value?, depth: Int = 0) -> Any? {
    guard depth < Self.maximumDepth else { return nil }
    switch self.value(value) {
    case .none, .null, .uid, .set: return nil
    case .bool(let flag): return flag
    case .integer(let number): return number
    case .unsigned(let number): return number
    case .real(let number): return number
    case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): return Data(bytes)
    case .string(let text): return text
    case .array(let members): return members.compactMap { anyValue($0, depth: depth + 1) }
    case .dictionary: return object(value).flatMap { anyValue(of: $0, value, depth: depth) }
    }
  }

  private func anyValue(
    of object: Object, _ value: BinaryPropertyList.Value?, depth: Int
  ) -> Any? {
    switch object.className {
    case "NSString", "NSMutableString": return string(value)
    case "NSDate": return date(object)
    case "NSData", "NSMutableData":
      guard case .data(let bytes) = object.fields["NS.data"] else { return nil }
      return Data(bytes)
    case "NSUUID": return uuid(object)
    case "NSURL":
      let base = self.object(object.fields["NS.base"]).flatMap {
        anyValue(of: $0, object.fields["NS.base"], depth: depth + 1) as? URL
      }
      return string(object.fields["NS.relative"]).flatMap { URL(string: $0, relativeTo: base) }
    case "NSDecimalNumber": return decimal(object)
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet":
      return list(value).compactMap { anyValue($0, depth: depth + 1) }
    default:
      guard object.className.contains("Dictionary") else { return nil }
      return dictionary(value, depth: depth + 1)
    }
  }

  /// A dictionary with texts or numbers as keys; entries that cannot be read are left out.
  func dictionary(
    _ value: BinaryPropertyList.Value?, depth: Int = 0
  ) -> [AnyHashable: Any] {
    var result: [AnyHashable: Any] = [:]
    guard depth < Self.maximumDepth else { return result }
    for (key, value) in entries(value) {
      guard let key = anyValue(key, depth: depth + 1) as? AnyHashable else { continue }
      result[key] = anyValue(value, depth: depth + 1)
    }
    return result
  }

  private func date(_ object: Object) -> Date? {
    switch object.fields["NS.time"] {
    case .real(let seconds), .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .integer(let seconds): Date(timeIntervalSinceReferenceDate: Double(seconds))
    default: nil
    }
  }

  private func uuid(_ object: Object) -> UUID? {
    guard case .data(let bytes) = object.fields["NS.uuidbytes"], bytes.count == 16 else {
      return nil
    }
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// A decimal number: a mantissa of 16-bit parts, the least first, and an exponent of ten.
  private func decimal(_ object: Object) -> Decimal? {
    guard case .data(let bytes) = object.fields["NS.mantissa"], bytes.count == 16,
      let exponent = integer(object.fields["NS.exponent"]), (-128...127).contains(exponent),
      let length = integer(object.fields["NS.length"]), (0...8).contains(length)
    else { return nil }
    let isNegative = flag(object.fields["NS.negative"])
    guard length > 0 else { return isNegative ? Decimal.nan : 0 }
    let isLittleEndian = integer(object.fields["NS.mantissa.bo"]).map { $0 != 2 } ?? true
    var mantissa = Decimal(0)
    for part in (0..<length).reversed() {
      let first = Int(bytes[2 * part])
      let second = Int(bytes[2 * part + 1])
      mantissa =
        mantissa * 65_536 + Decimal(isLittleEndian ? second << 8 | first : first << 8 | second)
    }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: mantissa)
  }
}
