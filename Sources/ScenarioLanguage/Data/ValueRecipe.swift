import OpenCoreData
import WorkbenchText

/// How the values of one attribute are made, row after row: what the data builder follows and an
/// exported program repeats.
enum ValueRecipe {
  /// Whole numbers from the least on, from the start again behind the greatest.
  case serial(least: Int, greatest: Int)
  /// Any whole number of a range; `bound` is used where the range has no size that can be said.
  case random(least: Int, greatest: Int, bound: Int)
  /// Any hundredths of a random whole number.
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

  /// A valid value of the type: whole numbers count the rows, the rest is random.
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
