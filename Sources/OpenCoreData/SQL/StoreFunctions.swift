import ManagedModel
package import SQLiteDriver

/// The SQL functions and collations that Core Data's SQL, triggers, and indexes use.
///
/// A connection without them can't run or explain such SQL: "no such function".
package enum StoreFunctions {
  /// Registers everything with a connection.
  ///
  /// - Parameter connection: A connection that isn't in use.
  package static func register(on connection: Connection) throws(SQLiteError) {
    try register(on: connection) { _ in }
  }

  /// Registers everything with a connection, with a handler for derived values.
  ///
  /// - Parameters:
  ///   - connection: A connection that isn't in use.
  ///   - derivedValue: Called for every derived value that a trigger has written, on the
  ///     connection's thread, while the statement runs.
  static func register(
    on connection: Connection,
    derivedValue: @escaping @Sendable (DerivedValueChange) -> Void
  ) throws(SQLiteError) {
    for function in TextFunction.allCases {
      try connection.createFunction(
        function.rawValue, argumentCount: function.argumentCount, deterministic: true
      ) { try function.value($0) }
    }
    for function in ValueFunction.allCases {
      try connection.createFunction(
        function.rawValue, argumentCount: function.argumentCount, deterministic: true
      ) { function.value($0) }
    }
    try connection.createFunction(
      AssignedInteger.function, argumentCount: 1, deterministic: true
    ) { try AssignedInteger.value($0) }
    try connection.createFunction(
      AssignedFloat.function, argumentCount: 1, deterministic: true
    ) { AssignedFloat.value($0) }
    try connection.createFunction(
      "NSCoreDataNow", argumentCount: 0, deterministic: false
    ) { _ in .real(Date().timeIntervalSinceReferenceDate) }
    for name in triggerFunctions {
      try connection.createFunction(name, argumentCount: 5, deterministic: false) { arguments in
        if let change = DerivedValueChange(arguments) { derivedValue(change) }
        return .null
      }
    }
    for collation in StoreCollation.allCases {
      try connection.createCollation(collation.rawValue) { left, right in
        collation.compare(left, right)
      }
    }
  }

  /// The functions that triggers call with table, entity ID, key, property, and value, to report
  /// what they wrote.
  private static let triggerFunctions = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]
}

/// The collations of a store's connections, with Core Data's names.
enum StoreCollation: String, CaseIterable, Sendable {
  /// `localizedCompare:`
  case localeSensitive = "NSCollateLocaleSensitive"
  /// `localizedCaseInsensitiveCompare:`
  case localeSensitiveNoCase = "NSCollateLocaleSensitiveNoCase"
  /// `localizedStandardCompare:`: like the Finder, with numbers by value.
  case finderlike = "NSCollateFinderlike"
  /// `caseInsensitiveCompare:`. The name is OpenCoreData's.
  case noCase = "NSCollateNoCase"

  /// Creates the collation of a sort descriptor's comparison; `nil` for the bytewise order.
  init?(_ comparison: NSSortDescriptor.Comparison) {
    switch comparison {
    case .binary: return nil
    case .localizedCompare: self = .localeSensitive
    case .localizedCaseInsensitiveCompare: self = .localeSensitiveNoCase
    case .localizedStandardCompare: self = .finderlike
    case .caseInsensitiveCompare: self = .noCase
    }
  }

  /// The comparison for sorting in memory, with the same function.
  private var comparison: NSSortDescriptor.Comparison {
    switch self {
    case .localeSensitive: .localizedCompare
    case .localeSensitiveNoCase: .localizedCaseInsensitiveCompare
    case .finderlike: .localizedStandardCompare
    case .noCase: .caseInsensitiveCompare
    }
  }

  /// Compares two strings as UTF-8 bytes: negative, zero, or positive.
  func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    if self == .noCase, let order = StringOrder.caseInsensitive(left, right) {
      return Int32(order.rawValue)
    }
    let order = comparison.compare(
      .string(String(decoding: left, as: UTF8.self)),
      .string(String(decoding: right, as: UTF8.self)))
    return Int32(order.rawValue)
  }
}

/// The string functions in conditions.
///
/// Each returns NULL for NULL; an invalid regular expression is an error.
///
/// The first is Core Data's. The functions that Core Data uses for the others aren't publicly
/// known; their names and arguments are OpenCoreData's: two strings and the options of the
/// comparison.
enum TextFunction: String, CaseIterable, Sendable {
  case search = "NSCoreDataStringSearch"
  case compare = "NSCoreDataStringCompare"
  case like = "NSCoreDataLike"
  case matches = "NSCoreDataMatches"

  var argumentCount: Int32 { self == .search ? 4 : 3 }

  func value(_ arguments: [SQLiteValue]) throws -> SQLiteValue {
    guard arguments.count == Int(argumentCount), let left = Self.text(arguments[0]),
      let right = Self.text(arguments[1])
    else { return .null }
    switch self {
    case .search:
      let search = StringSearch(flags: Self.number(arguments[2]), mode: Self.number(arguments[3]))
      return Self.found(search, left, right)
    case .compare:
      let order = StringMatching.compare(left, right, Self.options(arguments[2]))
      return .integer(Int64(order.rawValue))
    case .like:
      return Self.truth(StringMatching.isLike(left, right, Self.options(arguments[2])))
    case .matches:
      return Self.truth(try StringMatching.matches(left, right, Self.options(arguments[2])))
    }
  }

  private static func found(_ search: StringSearch, _ text: String, _ part: String) -> SQLiteValue {
    switch search.type {
    case .beginsWith: truth(StringMatching.hasPrefix(text, part, search.options))
    case .endsWith: truth(StringMatching.hasSuffix(text, part, search.options))
    default: truth(StringMatching.contains(text, part, search.options))
    }
  }

  private static func truth(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }

  private static func text(_ value: SQLiteValue) -> String? {
    switch value {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .blob, .null: nil
    }
  }

  private static func number(_ value: SQLiteValue) -> Int {
    if case .integer(let number) = value { Int(truncatingIfNeeded: number) } else { 0 }
  }

  private static func options(_ value: SQLiteValue) -> NSComparisonPredicate.Options {
    NSComparisonPredicate.Options(rawValue: UInt(clamping: number(value)))
  }
}

/// The functions of expressions that SQLite lacks, or evaluates differently from memory.
///
/// Each calls the function used in memory. Returns `nil` for `nil`, and for a value of a wrong
/// type, because a row can't be rejected. Core Data's functions aren't publicly known: the names
/// are OpenCoreData's.
enum ValueFunction: String, CaseIterable, Sendable {
  case absolute = "NSCoreDataAbsolute"
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
  /// Value, name of the class, and the attribute type of the value.
  case cast = "NSCoreDataCast"

  /// The function's name in expressions.
  var function: PredicateFunction {
    switch self {
    case .absolute: .absolute
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

  /// Returns the result for one row.
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

/// The conversion of a computed number to the integer that a batch update assigns.
///
/// The name is OpenCoreData's.
enum AssignedInteger {
  static let function = "NSCoreDataInteger"

  /// The error for a number beyond 64 bits, which fails the update.
  struct OutOfRange: Error, CustomStringConvertible {
    let number: Double

    var description: String {
      "\(number) can't be assigned to an integer attribute: it's out of the range of 64 bits"
    }
  }

  /// Returns the whole part of a number; `nil` for anything else.
  static func value(_ arguments: [SQLiteValue]) throws(OutOfRange) -> SQLiteValue {
    switch arguments.first {
    case .integer(let number)?: return .integer(number)
    case .real(let number)?:
      guard let whole = Int64(exactly: number.rounded(.towardZero)) else {
        throw OutOfRange(number: number)
      }
      return .integer(whole)
    case .null?, .text?, .blob?, nil: return .null
    }
  }
}

/// The conversion of a computed number to the float that a batch update assigns.
///
/// The name is OpenCoreData's.
enum AssignedFloat {
  static let function = "NSCoreDataFloat"

  /// Returns a number with the precision of a float; `nil` for anything else.
  static func value(_ arguments: [SQLiteValue]) -> SQLiteValue {
    switch arguments.first {
    case .integer(let number)?: .real(Double(Float(number)))
    case .real(let number)?: .real(Double(Float(number)))
    case .null?, .text?, .blob?, nil: .null
    }
  }
}

extension PredicateValue {
  /// Creates a value from SQLite's, without its attribute type.
  init(column: SQLiteValue) {
    switch column {
    case .null: self = .null
    case .integer(let value): self = .integer(value)
    case .real(let value): self = .double(value)
    case .text(let value): self = .string(value)
    case .blob(let value): self = .data(Data(value))
    }
  }

  /// Returns a column's value as an attribute type represents it.
  func read(as type: NSAttributeType?) -> PredicateValue {
    switch (type, self) {
    case (.booleanAttributeType, .integer(let value)): return .bool(value != 0)
    case (.integer64AttributeType, .double(let value)):
      // The sum of integers.
      return Int64(exactly: value).map(Self.integer) ?? self
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

/// The source of the contents of one `_Z_intarrayN`.
enum IntArraySource: Sendable {
  case values(ContiguousArray<Int64>)
  /// The integers of a constant list.
  case integers(ConstantOrigin)
  /// The keys of the objects of a constant list.
  case keys(ConstantOrigin, SQLEntity)

  /// Returns the integers for the constants of a predicate; `nil` if one doesn't fit.
  func values(
    of constants: [PredicateValue], for translator: SQLTranslator
  ) -> ContiguousArray<Int64>? {
    let form: BindForm
    let origin: ConstantOrigin
    switch self {
    case .values(let values): return values
    case .integers(let found): (form, origin) = (.stored(.integer, nil), found)
    case .keys(let found, let entity): (form, origin) = (.key(entity), found)
    }
    guard case .collection(let collection)? = origin.value(in: constants) else { return nil }
    var values: ContiguousArray<Int64> = []
    values.reserveCapacity(collection.elements.count)
    for element in collection.elements where !element.isNull {
      guard case .integer(let number)? = form.value(of: element, for: translator) else {
        return nil
      }
      values.append(number)
    }
    return values
  }
}
