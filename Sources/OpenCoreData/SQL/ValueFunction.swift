import ManagedModel
import SQLiteDriver

/// The functions of expressions which SQLite lacks, or answers otherwise than memory does.
///
/// Each calls what memory calls. Nil of nil; nil too where memory says that the value is of a wrong
/// type, for a row cannot be refused. What Apple's framework calls is not publicly known: the names
/// are this framework's own.
enum ValueFunction: String, CaseIterable, Sendable {
  case modulus = "NSCoreDataModulus"
  case power = "NSCoreDataPower"
  case squareRoot = "NSCoreDataSquareRoot"
  case logarithm = "NSCoreDataLogarithm"
  case naturalLogarithm = "NSCoreDataNaturalLogarithm"
  case exponential = "NSCoreDataExponential"
  case floor = "NSCoreDataFloor"
  case ceiling = "NSCoreDataCeiling"
  case truncate = "NSCoreDataTruncate"
  case bitwiseAnd = "NSCoreDataBitwiseAnd"
  case bitwiseOr = "NSCoreDataBitwiseOr"
  case bitwiseXor = "NSCoreDataBitwiseXor"
  case leftShift = "NSCoreDataLeftShift"
  case rightShift = "NSCoreDataRightShift"
  case onesComplement = "NSCoreDataOnesComplement"
  case uppercase = "NSCoreDataUppercase"
  case lowercase = "NSCoreDataLowercase"
  case canonical = "NSCoreDataCanonical"
  case length = "NSCoreDataLength"
  /// Value, name of the class, and the attribute type that tells what the value stands for.
  case cast = "NSCoreDataCast"

  /// The function's name in expressions.
  var function: PredicateFunction {
    switch self {
    case .modulus: .modulus
    case .power: .power
    case .squareRoot: .squareRoot
    case .logarithm: .logarithm
    case .naturalLogarithm: .naturalLogarithm
    case .exponential: .exponential
    case .floor: .floor
    case .ceiling: .ceiling
    case .truncate: .truncate
    case .bitwiseAnd: .bitwiseAnd
    case .bitwiseOr: .bitwiseOr
    case .bitwiseXor: .bitwiseXor
    case .leftShift: .leftShift
    case .rightShift: .rightShift
    case .onesComplement: .onesComplement
    case .uppercase: .uppercase
    case .lowercase: .lowercase
    case .canonical: .canonical
    case .length: .length
    case .cast: .cast
    }
  }

  private static let byFunction = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.function, $0) })

  init?(_ function: PredicateFunction) {
    guard let found = Self.byFunction[function] else { return nil }
    self = found
  }

  var argumentCount: Int32 {
    switch self {
    case .cast: 3
    case .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift: 2
    default: 1
    }
  }

  /// The answer for one row.
  func value(_ arguments: [SQLiteValue]) -> SQLiteValue {
    var values = arguments.map { PredicateValue(column: $0) }
    if self == .cast, case .integer(let number)? = values.popLast(), let value = values.first {
      values[0] = value.read(as: NSAttributeType(rawValue: UInt(clamping: number)))
    }
    guard let result = try? FunctionEvaluator.value(of: function, values),
      let type = StoredType(of: result)
    else { return .null }
    return result.stored(as: type == .decimal ? .real : type) ?? .null
  }
}

extension PredicateValue {
  /// A value as SQLite has it, without knowing what it stands for.
  init(column: SQLiteValue) {
    switch column {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .double(value)
    case .text(let value): self = .string(value)
    case .blob(let value): self = .data(Data(value))
    }
  }

  /// A column's value as what an attribute of a type has it stand for.
  func read(as type: NSAttributeType?) -> PredicateValue {
    switch (type, self) {
    case (.booleanAttributeType, .integer(let value)): return .bool(value != 0)
    case (.dateAttributeType, _):
      return nearestDouble.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? self
    case (.UUIDAttributeType, .data(let bytes)) where bytes.count == 16:
      let uuid = bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
      return .uuid(UUID(uuid: uuid))
    case (.URIAttributeType, .string(let text)): return URL(string: text).map(Self.url) ?? self
    case (.decimalAttributeType, .double(let value)):
      return Decimal(string: "\(value)").map(Self.decimal) ?? self
    case (.decimalAttributeType, .integer(let value)): return .decimal(Decimal(value))
    case (.decimalAttributeType, .string(let text)):
      return Decimal(string: text).map(Self.decimal) ?? self
    default: return self
    }
  }
}
