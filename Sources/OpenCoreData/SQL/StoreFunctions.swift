import ManagedModel
package import SQLiteDriver

/// The SQL functions and collations which Apple's SQL, triggers and indexes take for granted.
///
/// A connection without them cannot run such SQL, nor explain it: "no such function".
package enum StoreFunctions {
  /// Adds everything to a connection.
  ///
  /// - Parameter connection: A connection nobody else uses now.
  package static func register(on connection: Connection) throws(SQLiteError) {
    try register(on: connection) { _ in }
  }

  /// Adds everything to a connection, and hears of derived values.
  ///
  /// - Parameters:
  ///   - connection: A connection nobody else uses now.
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

  /// What triggers call with table, entity number, key, property and value, so that the framework
  /// learns what they wrote.
  private static let triggerFunctions = [
    "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue",
  ]
}

/// The collations that a store's connections have, by Apple's names.
enum StoreCollation: String, CaseIterable, Sendable {
  /// `localizedCompare:`
  case localeSensitive = "NSCollateLocaleSensitive"
  /// `localizedCaseInsensitiveCompare:`
  case localeSensitiveNoCase = "NSCollateLocaleSensitiveNoCase"
  /// `localizedStandardCompare:`: as the Finder sorts, numbers by value.
  case finderlike = "NSCollateFinderlike"
  /// `caseInsensitiveCompare:`. The name is this framework's own.
  case noCase = "NSCollateNoCase"

  /// The collation of a sort descriptor's comparison, nil for the order of bytes.
  init?(_ comparison: NSSortDescriptor.Comparison) {
    switch comparison {
    case .binary: return nil
    case .localizedCompare: self = .localeSensitive
    case .localizedCaseInsensitiveCompare: self = .localeSensitiveNoCase
    case .localizedStandardCompare: self = .finderlike
    case .caseInsensitiveCompare: self = .noCase
    }
  }

  /// The comparison that memory sorts by: the same function for both.
  private var comparison: NSSortDescriptor.Comparison {
    switch self {
    case .localeSensitive: .localizedCompare
    case .localeSensitiveNoCase: .localizedCaseInsensitiveCompare
    case .finderlike: .localizedStandardCompare
    case .noCase: .caseInsensitiveCompare
    }
  }

  /// Compares two texts as their bytes in UTF-8: negative, zero or positive.
  func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    let order = comparison.compare(
      .string(String(decoding: left, as: UTF8.self)),
      .string(String(decoding: right, as: UTF8.self)))
    return Int32(order.rawValue)
  }
}

/// The functions on texts in conditions.
///
/// Each answers NULL for NULL; a bad regular expression is an error.
///
/// The first is Apple's. What Apple's framework calls for the others is not publicly known; their
/// names and arguments are this framework's own: two texts and the options of the comparison.
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

/// What fills one `_Z_intarrayN`.
enum IntArraySource: Sendable {
  case values(ContiguousArray<Int64>)
  /// The integers of a constant list.
  case integers(ConstantOrigin)
  /// The keys of the objects of a constant list.
  case keys(ConstantOrigin, SQLEntity)

  /// The numbers for the constants of a predicate, nil when one does not fit.
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
