extension ModelArchiveWriter {
  /// The reference to a Swift value; nothing for a value that has no archived form.
  mutating func any(_ value: Any?) -> Value {
    switch value {
    case let text as String: return string(text)
    case let flag as Bool: return scalar(.bool(flag))
    case let number as any BinaryInteger:
      return Int64(exactly: number).map { scalar(.integer($0)) } ?? null
    case let number as Double: return scalar(.real(number))
    case let number as Float: return scalar(.real(Double(number)))
    case let number as Decimal: return decimal(number)
    case let number as NSNumber: return scalar(.real(number.doubleValue))
    case let date as Date:
      let seconds = date.timeIntervalSinceReferenceDate
      return add(["NS.time": .real(seconds), "$class": classReference("NSDate")])
    case let data as Data: return scalar(.data(Array(data)))
    case let uuid as UUID:
      let bytes = withUnsafeBytes(of: uuid.uuid) { Array($0) }
      return add(["NS.uuidbytes": .data(bytes), "$class": classReference("NSUUID")])
    case let url as URL:
      return add([
        "NS.base": null, "NS.relative": string(url.absoluteString),
        "$class": classReference("NSURL"),
      ])
    case let members as [Any]: return array(members.map { any($0) })
    case let entries as [AnyHashable: Any]: return dictionary(of: entries)
    default: return null
    }
  }

  /// The reference to a dictionary of Swift values, the keys sorted by their text.
  mutating func dictionary(of entries: [AnyHashable: Any]) -> Value {
    let sorted = entries.sorted { "\($0.key)" < "\($1.key)" }
    return dictionary(
      sorted.map { entry in (key: any(entry.key.base), value: any(entry.value)) })
  }

  /// A decimal number: a mantissa of 16-bit parts, the least first, and an exponent of ten.
  private mutating func decimal(_ number: Decimal) -> Value {
    var parts = [Int](repeating: 0, count: 8)
    let digits = number.isNaN ? "" : "\(number.significand.magnitude)"
    for digit in digits.compactMap(\.wholeNumberValue) {
      var carry = digit
      for index in parts.indices {
        let product = parts[index] * 10 + carry
        parts[index] = product & 0xFFFF
        carry = product >> 16
      }
    }
    let length = parts.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    let bytes = parts.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    return add([
      "NS.mantissa": .data(bytes),
      "NS.mantissa.bo": .integer(1),
      "NS.exponent": .integer(Int64(number.isNaN ? 0 : number.exponent)),
      "NS.length": .integer(Int64(length)),
      "NS.negative": .bool(number.isNaN || number.sign == .minus),
      "NS.compact": .bool(true),
      "$class": classReference("NSDecimalNumber", "NSNumber", "NSValue"),
    ])
  }
}
