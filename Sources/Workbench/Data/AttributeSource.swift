import OpenCoreData

/// Makes the values of one attribute, row after row.
struct AttributeSource {
  let name: String
  private let type: NSAttributeType
  private let generator: Generator?
  private let isUnique: Bool
  private let bounds: AttributeBounds
  private let literals: [Any?]
  private var random: SeededGenerator

  /// 1 January 2016, in seconds of `Date`'s own scale: data must not depend on the day it is made.
  private static let epoch: TimeInterval = 473_299_200
  private static let secondsOfAYear = 31_622_400

  /// - Parameter isUnique: whether a uniqueness constraint names the attribute.
  init(
    _ attribute: NSAttributeDescription, generator: Generator?, isUnique: Bool, seed: UInt64,
    stream: String
  ) {
    name = attribute.name
    type = attribute.attributeType
    self.generator = generator
    self.isUnique = isUnique
    bounds = AttributeBounds(attribute)
    random = SeededGenerator(seed: seed, stream: stream)
    if case .oneOf(let words)? = generator {
      literals = words.map { AttributeLiteral(attribute.attributeType).value(of: $0.text) }
    } else {
      literals = []
    }
  }

  /// The value of a row, counted from 0; nil for no value.
  mutating func value(row: Int) -> Any? {
    switch generator {
    case .oneOf: literals.isEmpty ? nil : literals[row % literals.count]
    case .every(let seconds):
      Date(timeIntervalSinceReferenceDate: AttributeSource.epoch + Double(row * seconds))
    case .text(let length): text(length: length, row: row)
    case .random: randomValue(row: row)
    case .cycle, nil: plainValue(row: row)
    }
  }

  /// A valid value of the type: whole numbers count the rows, the rest is random.
  private mutating func plainValue(row: Int) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(clamping: bounds.serial(row, from: Int(Int16.max)))
    case .integer32AttributeType: Int32(clamping: bounds.serial(row, from: Int(Int32.max)))
    case .integer64AttributeType: Int64(bounds.serial(row, from: Int.max))
    case .decimalAttributeType where isUnique: Decimal(bounds.serial(row, from: Int.max))
    case .doubleAttributeType where isUnique: Double(bounds.serial(row, from: Int.max))
    case .floatAttributeType where isUnique: Float(bounds.serial(row, from: 1 << 24))
    case .dateAttributeType where isUnique:
      Date(timeIntervalSinceReferenceDate: AttributeSource.epoch + Double(row))
    case .stringAttributeType: text(length: bounds.textLength, row: row)
    default: randomValue(row: row)
    }
  }

  private mutating func randomValue(row: Int) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(clamping: bounds.random(&random, below: Int(Int16.max)))
    case .integer32AttributeType: Int32(clamping: bounds.random(&random, below: Int(Int32.max)))
    case .integer64AttributeType: Int64(bounds.random(&random, below: Int(Int32.max)))
    case .decimalAttributeType: Decimal(bounds.random(&random, below: 1_000_000)) / 100
    case .doubleAttributeType: bounds.fraction(&random)
    case .floatAttributeType: Float(bounds.fraction(&random))
    case .stringAttributeType: text(length: bounds.textLength, row: row)
    case .booleanAttributeType: random.below(2) == 1
    case .dateAttributeType:
      Date(
        timeIntervalSinceReferenceDate: AttributeSource.epoch
          + Double(random.below(AttributeSource.secondsOfAYear)))
    case .binaryDataAttributeType, .transformableAttributeType:
      Data((0..<12).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case .UUIDAttributeType: uuid()
    case .URIAttributeType: URL(string: "https://example.org/\(row + 1)")
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  private mutating func text(length: Int, row: Int) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to"]
    var text = ""
    while text.utf8.count < length {
      text += syllables[random.below(syllables.count)]
    }
    text = String(text.prefix(length))
    guard isUnique else { return text }
    let serial = String(row + 1)
    return String(text.prefix(max(0, length - serial.count))) + serial
  }

  private mutating func uuid() -> UUID {
    let (high, low) = (random.next(), random.next())
    func byte(_ word: UInt64, _ index: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> UInt64(8 * (7 - index)))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6) & 0x0f | 0x40, byte(high, 7),
        byte(low, 0) & 0x3f | 0x80, byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4),
        byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}
