import Foundation

/// A `numeric` in the protocol's form: groups of four decimal digits.
struct NumericDigits: Hashable {
  /// The groups, the most significant first, without zeros at the ends.
  private var groups: [Int16]
  /// The power of 10,000 of the first group.
  private var weight: Int
  private var sign: UInt16
  /// The number of digits after the decimal point.
  private var scale: Int

  private static let negative: UInt16 = 0x4000
  private static let notANumber: UInt16 = 0xC000
  private static let digitsPerGroup = 4

  /// Splits a number into groups.
  init(_ value: Decimal) {
    (groups, weight, sign, scale) = ([], 0, value.isNaN ? Self.notANumber : 0, 0)
    guard !value.isNaN else { return }
    // The description of a decimal has no exponent.
    var text = value.description[...]
    if text.first == "-" {
      sign = Self.negative
      text = text.dropFirst()
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    var whole = String(parts[0])
    var fraction = parts.count > 1 ? String(parts[1]) : ""
    scale = fraction.utf8.count
    while whole.utf8.count % Self.digitsPerGroup != 0 { whole = "0" + whole }
    while fraction.utf8.count % Self.digitsPerGroup != 0 { fraction += "0" }
    weight = whole.utf8.count / Self.digitsPerGroup - 1
    let digits = Array((whole + fraction).utf8)
    groups = stride(from: 0, to: digits.count, by: Self.digitsPerGroup).map { start in
      digits[start..<(start + Self.digitsPerGroup)].reduce(0) { $0 * 10 + Int16($1 - 48) }
    }
    while groups.last == 0 { groups.removeLast() }
    while groups.first == 0 {
      groups.removeFirst()
      weight -= 1
    }
    if groups.isEmpty { weight = 0 }
  }

  /// Reads a result; nil for bytes that aren't a `numeric`.
  init?(network bytes: UnsafeRawBufferPointer) {
    let header = 8
    guard bytes.count >= header, bytes.count % 2 == 0 else { return nil }
    let words = stride(from: 0, to: bytes.count, by: 2).compactMap {
      Int16(network: UnsafeRawBufferPointer(rebasing: bytes[$0..<($0 + 2)]))
    }
    guard Int(words[0]) == words.count - header / 2 else { return nil }
    weight = Int(words[1])
    sign = UInt16(bitPattern: words[2])
    scale = Int(words[3])
    groups = Array(words[(header / 2)...])
  }

  var networkBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(network: Int16(groups.count))
    bytes.append(network: Int16(weight))
    bytes.append(network: sign)
    bytes.append(network: Int16(scale))
    for group in groups { bytes.append(network: group) }
    return bytes
  }

  /// The number as text, which `Decimal` and `Double` read; nil for infinity.
  var text: String? {
    switch sign {
    case 0, Self.negative: break
    case Self.notANumber: return "NaN"
    default: return nil
    }
    var digits = ""
    // At least one group on each side of the point; the exponents of a `numeric` are small.
    for position in stride(from: max(weight, 0), through: 0, by: -1) {
      digits += text(at: position)
    }
    digits += "."
    let last = min(weight - groups.count + 1, -1)
    for position in stride(from: -1, through: last, by: -1) { digits += text(at: position) }
    return (sign == Self.negative ? "-" : "") + digits
  }

  private func text(at position: Int) -> String {
    let index = weight - position
    let group = groups.indices.contains(index) ? groups[index] : 0
    let digits = String(group)
    return String(repeating: "0", count: Self.digitsPerGroup - digits.utf8.count) + digits
  }

  /// The number; nil if a `Decimal` can't represent it.
  var decimal: Decimal? {
    guard let text else { return nil }
    if text == "NaN" { return .nan }
    return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
  }

  /// The nearest double; nil for infinity.
  var nearestDouble: Double? { text.flatMap(Double.init) }
}
