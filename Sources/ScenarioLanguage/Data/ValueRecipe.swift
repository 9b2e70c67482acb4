package import ManagedModel
package import WorkbenchText

/// The recipe for an attribute's values, which both the store builder and exported programs use.
package enum ValueRecipe {
  /// Consecutive integers from `least` to `greatest`, repeated.
  case serial(least: Int, greatest: Int)
  /// Random integers in a range. `bound` is the number of values if the size of the range isn't
  /// representable.
  case random(least: Int, greatest: Int, bound: Int)
  /// Random integers in a range, divided by 100.
  case hundredths(least: Int, greatest: Int, bound: Int)
  /// Random numbers in a range.
  case fraction(least: Double, greatest: Double)
  /// Random words of a length. If `isUnique` is `true`, they end in the row number.
  case text(length: Int, isUnique: Bool)
  /// Dates at an interval in seconds, from a number of seconds after the start of 2016.
  case dates(seconds: Int, from: Int)
  /// A random second in a range, in seconds from the start of 2016.
  case anyDate(least: Int, greatest: Int)
  /// A random Boolean value.
  case flag
  /// Random bytes.
  case bytes(length: Int)
  case uuid
  /// A URL that contains the row number.
  case address
  /// The given values in order, repeated from the first.
  case literals([Word])
  /// No value.
  case none

  /// January 1, 2016, in seconds since the reference date of `Date`.
  ///
  /// Data must not depend on the current date.
  package static let epoch: TimeInterval = 473_299_200
  static let secondsOfAYear = 31_622_400

  /// Returns the number of seconds in a range of `anyDate`, at least 1.
  package static func length(from least: Int, to greatest: Int) -> Int {
    max(least, greatest) - least + 1
  }

  /// Creates the recipe for an attribute.
  ///
  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - generator: The specified generator, or `nil` for the default.
  ///   - isUnique: Whether the attribute is in a uniqueness constraint.
  init(_ attribute: NSAttributeDescription, generator: Generator?, isUnique: Bool) {
    let bounds = AttributeBounds(attribute)
    switch generator {
    case .oneOf(let words): self = .literals(words)
    case .every(let seconds): self = .dates(seconds: seconds, from: 0)
    case .bytes(let length): self = .bytes(length: length)
    case .text(let length): self = .text(length: length, isUnique: isUnique)
    case .random: self = .valid(attribute.attributeType, bounds, isUnique)
    case .cycle, .several, nil: self = .plain(attribute.attributeType, bounds, isUnique)
    }
  }

  /// Returns the default recipe: serial integers for integers and unique numbers, and random values
  /// otherwise.
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
    case .dateAttributeType where isUnique: .dates(seconds: 1, from: bounds.seconds.least)
    default: .valid(type, bounds, isUnique)
    }
  }

  /// Returns the recipe for random valid values of the type.
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
    case .dateAttributeType:
      .anyDate(least: bounds.seconds.least, greatest: bounds.seconds.greatest)
    case .binaryDataAttributeType, .transformableAttributeType: .bytes(length: 12)
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
    let range = bounds.random(below: bound, times: 100)
    return .hundredths(least: range.least, greatest: range.greatest, bound: bound)
  }

  private static func random(_ bounds: AttributeBounds, _ bound: Int) -> ValueRecipe {
    let range = bounds.random(below: bound)
    return .random(least: range.least, greatest: range.greatest, bound: bound)
  }
}

/// A random number generator (SplitMix64) whose numbers depend only on the seed, on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator for a stream.
  ///
  /// Each property has its own stream, so adding a generator for one property doesn't change the
  /// values of the others.
  ///
  /// - Parameters:
  ///   - seed: The seed of the data set.
  ///   - stream: The name of the stream, such as `Mood.date`.
  package init(seed: UInt64, stream: String) {
    // FNV-1a, because Swift's hash values differ in each run.
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

  /// Returns a number from 0 up to, but not including, a bound greater than 0.
  package mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}

extension SeededGenerator {
  /// Returns a random integer in a range, or `least` if the range is empty.
  ///
  /// - Parameters:
  ///   - least: The lower bound.
  ///   - greatest: The upper bound, included.
  ///   - bound: The number of values to use if the size of the range isn't representable.
  package mutating func whole(from least: Int, to greatest: Int, below bound: Int) -> Int {
    guard least < greatest else { return least }
    let (span, isOver) = greatest.subtractingReportingOverflow(least)
    return least + below(isOver || span == .max ? bound : span + 1)
  }

  /// Returns a random number in a range.
  package mutating func fraction(from least: Double, to greatest: Double) -> Double {
    least + Double(next() >> 11) / Double(1 << 53) * max(0, greatest - least)
  }

  /// Returns a random word.
  ///
  /// - Parameters:
  ///   - length: The number of letters.
  ///   - row: The row index, starting at 0, whose number the word ends in, or `nil` for none.
  package mutating func text(length: Int, row: Int?) -> String {
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

  /// Returns random bytes, eight of each random number.
  package mutating func bytes(length: Int) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length + 8)
    while bytes.count < length {
      let word = next()
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return Data(bytes.prefix(length))
  }

  /// Returns a UUID in the format of version 4.
  package mutating func uuid() -> UUID {
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
