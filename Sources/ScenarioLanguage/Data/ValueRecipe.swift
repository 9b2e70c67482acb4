import OpenCoreData
import WorkbenchText

/// How the values of one attribute are made, row after row: what the data builder follows and an
/// exported program repeats.
enum ValueRecipe {
  /// Integers from the least on, from the start again behind the greatest.
  case serial(least: Int, greatest: Int)
  /// Any integer of a range; `bound` is used where the range has no size that can be said.
  case random(least: Int, greatest: Int, bound: Int)
  /// Any hundredths of a random integer.
  case hundredths(least: Int, greatest: Int, bound: Int)
  /// Any number of a range.
  case fraction(least: Double, greatest: Double)
  /// Words of so many letters; with `isUnique` they end in the row's number.
  case text(length: Int, isUnique: Bool)
  /// Dates so many seconds apart.
  case dates(seconds: Int)
  /// Any second of the first year.
  case anyDate
  /// Yes or no.
  case flag
  /// Twelve bytes.
  case bytes
  case uuid
  /// An address with the row's number.
  case address
  /// One of these after the other.
  case literals([Word])
  /// No value.
  case none

  /// 1 January 2016, in seconds of `Date`'s own scale: data must not depend on the day it is made.
  static let epoch: TimeInterval = 473_299_200
  static let secondsOfAYear = 31_622_400

  /// - Parameter isUnique: whether a uniqueness constraint names the attribute.
  init(_ attribute: NSAttributeDescription, generator: Generator?, isUnique: Bool) {
    let bounds = AttributeBounds(attribute)
    switch generator {
    case .oneOf(let words): self = .literals(words)
    case .every(let seconds): self = .dates(seconds: seconds)
    case .text(let length): self = .text(length: length, isUnique: isUnique)
    case .random: self = .valid(attribute.attributeType, bounds, isUnique)
    case .cycle, nil: self = .plain(attribute.attributeType, bounds, isUnique)
    }
  }

  /// A valid value of the type: integers count the rows, the rest is random.
  private static func plain(
    _ type: NSAttributeType, _ bounds: AttributeBounds, _ isUnique: Bool
  ) -> ValueRecipe {
    switch type {
    case .integer16AttributeType: .serial(bounds, Int(Int16.max))
    case .integer32AttributeType: .serial(bounds, Int(Int32.max))
    case .integer64AttributeType: .serial(bounds, Int.max)
    case .decimalAttributeType where isUnique: .serial(bounds, Int.max)
    case .doubleAttributeType where isUnique: .serial(bounds, Int.max)
    case .floatAttributeType where isUnique: .serial(bounds, 1 << 24)
    case .dateAttributeType where isUnique: .dates(seconds: 1)
    default: .valid(type, bounds, isUnique)
    }
  }

  /// Any valid value of the type.
  private static func valid(
    _ type: NSAttributeType, _ bounds: AttributeBounds, _ isUnique: Bool
  ) -> ValueRecipe {
    switch type {
    case .integer16AttributeType: .random(bounds, Int(Int16.max))
    case .integer32AttributeType, .integer64AttributeType: .random(bounds, Int(Int32.max))
    case .decimalAttributeType: .hundredths(bounds, 1_000_000)
    case .doubleAttributeType, .floatAttributeType:
      .fraction(least: bounds.fraction.least, greatest: bounds.fraction.greatest)
    case .stringAttributeType: .text(length: bounds.textLength, isUnique: isUnique)
    case .booleanAttributeType: .flag
    case .dateAttributeType: .anyDate
    case .binaryDataAttributeType, .transformableAttributeType: .bytes
    case .UUIDAttributeType: .uuid
    case .URIAttributeType: .address
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: .none
    }
  }

  private static func serial(_ bounds: AttributeBounds, _ greatest: Int) -> ValueRecipe {
    let range = bounds.serial(from: greatest)
    return .serial(least: range.least, greatest: range.greatest)
  }

  private static func hundredths(_ bounds: AttributeBounds, _ bound: Int) -> ValueRecipe {
    let range = bounds.random(below: bound)
    return .hundredths(least: range.least, greatest: range.greatest, bound: bound)
  }

  private static func random(_ bounds: AttributeBounds, _ bound: Int) -> ValueRecipe {
    let range = bounds.random(below: bound)
    return .random(least: range.least, greatest: range.greatest, bound: bound)
  }
}

/// Random numbers that are the same for the same seed, on every machine (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator of its own for each stream, so that naming one property more leaves the values of the
  /// others as they were.
  ///
  /// - Parameters:
  ///   - seed: the data set's.
  ///   - stream: `Mood.date`.
  package init(seed: UInt64, stream: String) {
    // FNV-1a; Swift's own hashes differ from run to run.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in stream.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    state = seed &* 0x9e37_79b9_7f4a_7c15 ^ hash
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 to one below the bound, which is greater than 0.
  package mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}

extension SeededGenerator {
  /// Any integer of a range; the least where it has no room.
  ///
  /// - Parameter bound: how many numbers are used where the range has more than can be said.
  mutating func whole(from least: Int, to greatest: Int, below bound: Int) -> Int {
    guard least < greatest else { return least }
    let (span, isOver) = greatest.subtractingReportingOverflow(least)
    return least + below(isOver || span == .max ? bound : span + 1)
  }

  /// Any number of a range.
  mutating func fraction(from least: Double, to greatest: Double) -> Double {
    least + Double(next() >> 11) / Double(1 << 53) * max(0, greatest - least)
  }

  /// A word of so many letters.
  ///
  /// - Parameter row: the number it ends in, counted from 0; nil for none.
  mutating func text(length: Int, row: Int?) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to"]
    var text = ""
    while text.utf8.count < length {
      text += syllables[below(syllables.count)]
    }
    text = String(text.prefix(length))
    guard let row else { return text }
    let serial = String(row + 1)
    return String(text.prefix(max(0, length - serial.count))) + serial
  }

  /// A UUID of version 4's form.
  mutating func uuid() -> UUID {
    let words = [next(), next()]
    func byte(_ index: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(8 * (7 - index % 8)))
    }
    return UUID(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0f | 0x40, byte(7),
        byte(8) & 0x3f | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
      ))
  }
}
