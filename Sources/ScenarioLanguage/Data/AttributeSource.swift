import OpenCoreData
import WorkbenchText

/// Makes the values of one attribute, row after row.
struct AttributeSource {
  let name: String
  private let type: NSAttributeType
  private let recipe: ValueRecipe
  private let literals: [Any?]
  private var random: SeededGenerator

  /// - Parameter stream: what its random numbers are called.
  init(_ filled: EntityFill.Filled, seed: UInt64, stream: String) {
    name = filled.attribute.name
    let type = filled.attribute.attributeType
    self.type = type
    recipe = filled.recipe
    random = SeededGenerator(seed: seed, stream: stream)
    if case .literals(let words) = recipe {
      literals = words.map { AttributeLiteral(type).value(of: $0.text) }
    } else {
      literals = []
    }
  }

  /// The value of a row, counted from 0; nil for no value.
  mutating func value(row: Int) -> Any? {
    switch recipe {
    case .serial(let least, let greatest):
      number(AttributeSource.serial(row, least, greatest))
    case .random(let least, let greatest, let bound):
      number(random.whole(from: least, to: greatest, below: bound))
    case .hundredths(let least, let greatest, let bound):
      Decimal(random.whole(from: least, to: greatest, below: bound)) / 100
    case .fraction(let least, let greatest): fraction(least, greatest)
    case .text(let length, let isUnique):
      random.text(length: length, row: isUnique ? row : nil)
    case .dates(let seconds): date(Double(row * seconds))
    case .anyDate: date(Double(random.below(ValueRecipe.secondsOfAYear)))
    case .flag: random.below(2) == 1
    case .bytes: Data((0..<12).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case .uuid: random.uuid()
    case .address: URL(string: "https://example.org/\(row + 1)")
    case .literals: literals.isEmpty ? nil : literals[row % literals.count]
    case .none: nil
    }
  }

  /// 1, 2, 3 … within the bounds, from the start again at their end.
  private static func serial(_ row: Int, _ least: Int, _ greatest: Int) -> Int {
    guard least < greatest else { return least }
    let (span, isOver) = greatest.subtractingReportingOverflow(least)
    return isOver ? row : least + row % (span == .max ? span : span + 1)
  }

  /// A whole number as a value of the attribute's type.
  private func number(_ number: Int) -> Any? {
    switch type {
    case .integer16AttributeType: Int16(clamping: number)
    case .integer32AttributeType: Int32(clamping: number)
    case .integer64AttributeType: Int64(number)
    case .decimalAttributeType: Decimal(number)
    case .doubleAttributeType: Double(number)
    case .floatAttributeType: Float(number)
    default: nil
    }
  }

  private mutating func fraction(_ least: Double, _ greatest: Double) -> Any? {
    let number = random.fraction(from: least, to: greatest)
    return type == .floatAttributeType ? Float(number) : number
  }

  private func date(_ seconds: Double) -> Date {
    Date(timeIntervalSinceReferenceDate: ValueRecipe.epoch + seconds)
  }
}
