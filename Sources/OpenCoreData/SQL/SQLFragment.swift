import ManagedModel
import SQLiteDriver

/// A fragment of SQL and its bound values, in order.
///
/// Written as a string literal: `"\(left) = \(bind: value)"`. Fragments include their values, so
/// that SQL and values always match.
struct SQLFragment: Sendable {
  var sql: String
  var binds: [SQLBind]

  init(sql: String, binds: [SQLBind] = []) {
    self.sql = sql
    self.binds = binds
  }

  static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    SQLFragment(sql: left.sql + right.sql, binds: left.binds + right.binds)
  }

  static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      sql: fragments.map(\.sql).joined(separator: separator), binds: fragments.flatMap(\.binds))
  }
}

extension SQLFragment: ExpressibleByStringInterpolation {
  init(stringLiteral value: String) {
    self.init(sql: value)
  }

  init(stringInterpolation: Interpolation) {
    self = stringInterpolation.fragment
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var fragment = SQLFragment(sql: "")

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) {
      fragment.sql += literal
    }

    mutating func appendInterpolation(_ other: SQLFragment) {
      fragment = fragment + other
    }

    /// Appends a `?` with its value.
    mutating func appendInterpolation(bind value: SQLiteValue) {
      appendInterpolation(bind: .value(value))
    }

    /// Appends a `?` with its value, or the source of it.
    mutating func appendInterpolation(bind value: SQLBind) {
      fragment.sql += "?"
      fragment.binds.append(value)
    }

    /// Appends SQL text: an operator, a number, a column with its alias.
    mutating func appendInterpolation(raw text: some CustomStringConvertible) {
      fragment.sql += text.description
    }
  }
}

/// A predicate as SQL, or a constant result.
enum SQLCondition: Sendable {
  case constant(Bool)
  case sql(SQLFragment)

  /// The condition as SQL text.
  ///
  /// A constant is a comparison of two numbers.
  var fragment: SQLFragment {
    switch self {
    case .constant(let value): SQLFragment(sql: value ? "1 = 1" : "0 = 1")
    case .sql(let fragment): fragment
    }
  }

  /// Returns the conjunction of conditions.
  ///
  /// Without conditions it's true.
  static func all(_ conditions: [SQLCondition]) -> SQLCondition {
    join(conditions, by: " AND ", neutral: true)
  }

  /// Returns the disjunction of conditions.
  ///
  /// Without conditions it's false.
  static func any(_ conditions: [SQLCondition]) -> SQLCondition {
    join(conditions, by: " OR ", neutral: false)
  }

  static func not(_ condition: SQLCondition) -> SQLCondition {
    switch condition {
    case .constant(let value): .constant(!value)
    case .sql(let fragment): .sql("NOT \(fragment.inParentheses)")
    }
  }

  private static func join(
    _ conditions: [SQLCondition], by word: String, neutral: Bool
  ) -> SQLCondition {
    var fragments: [SQLFragment] = []
    for condition in conditions {
      switch condition {
      case .constant(neutral): continue
      case .constant: return .constant(!neutral)
      case .sql(let fragment): fragments.append(fragment)
      }
    }
    guard let first = fragments.first else { return .constant(neutral) }
    if !neutral, let list = membership(fragments) { return .sql(list) }
    return fragments.count == 1 ? .sql(first) : .sql(joined(fragments[...], by: word))
  }

  /// The number of terms beyond which groups of them are put into parentheses.
  ///
  /// SQLite's expression tree is as deep as such a chain is long; the limit is 1,000.
  private static let longestChain = 100

  /// The number of terms of an OR beyond which they're written as a list if that's equivalent.
  ///
  /// SQLite's time to prepare a chain grows with the square of its terms; for a list it's linear.
  private static let longestDisjunction = 2_000

  /// Returns comparisons of one expression with several values, `a = ? OR a = ?`, as `a IN (?, ?)`.
  ///
  /// `nil` for a short chain, and for other terms.
  private static func membership(_ terms: [SQLFragment]) -> SQLFragment? {
    let comparison = " = ?"
    guard terms.count > longestDisjunction, let first = terms.first, first.binds.count == 1,
      first.sql.hasSuffix(comparison),
      terms.allSatisfy({ $0.sql == first.sql && $0.binds.count == 1 })
    else { return nil }
    let marks = Array(repeating: "?", count: terms.count).joined(separator: ", ")
    return SQLFragment(
      sql: "\(first.sql.dropLast(comparison.count)) IN (\(marks))",
      binds: terms.flatMap(\.binds))
  }

  private static func joined(
    _ fragments: ArraySlice<SQLFragment>, by word: String
  ) -> SQLFragment {
    guard fragments.count > longestChain else {
      return "(\(.joined(Array(fragments), by: word)))"
    }
    let size = (fragments.count + longestChain - 1) / longestChain
    let groups = stride(from: fragments.startIndex, to: fragments.endIndex, by: size).map {
      joined(fragments[$0..<min($0 + size, fragments.endIndex)], by: word)
    }
    return joined(groups[...], by: word)
  }
}

extension SQLFragment {
  /// The fragment in one pair of parentheses.
  var inParentheses: SQLFragment {
    isOneParenthesis ? self : "(\(self))"
  }

  /// Whether the text is enclosed in one pair of parentheses.
  private var isOneParenthesis: Bool {
    guard sql.first == "(", sql.last == ")" else { return false }
    var depth = 0
    var isInName = false
    for (index, byte) in sql.utf8.enumerated() {
      if byte == UInt8(ascii: "\"") { isInName.toggle() }
      if isInName { continue }
      if byte == UInt8(ascii: "(") { depth += 1 }
      if byte == UInt8(ascii: ")") { depth -= 1 }
      if depth == 0, index < sql.utf8.count - 1 { return false }
    }
    return true
  }
}

/// One side of a comparison.
enum SQLOperand {
  /// A value that doesn't depend on the row.
  case constant(PredicateConstant)
  /// The column of an attribute.
  case attribute(SQLFragment, NSAttributeDescription)
  /// The primary key of an object.
  case object(SQLFragment, SQLEntity)
  /// The ID of an object's entity, which represents the entity or its name.
  case entity(SQLFragment, SQLEntity, isName: Bool)
  /// A computed value, of a type that constants are converted to.
  case computed(SQLFragment, StoredType)
  /// The objects, or their values, at the end of a path across a to-many relationship.
  case toMany(ToManyPath)
  /// A list that depends on the row.
  case list([NSExpression])

  /// Whether it's the constant `nil`.
  var isNull: Bool {
    if case .constant(let constant) = self { constant.isNull } else { false }
  }
}

/// A key path up to its first to-many relationship, and the remaining keys.
struct ToManyPath {
  let scope: TranslationScope
  let source: TranslationPosition
  let relationship: SQLToMany
  let rest: [PredicateKeyPath.Component]

  /// The whole path, for messages.
  let text: String

  /// The condition on the elements and the name of their variable, for a `SUBQUERY`.
  var filter: (variable: String, predicate: NSPredicate)?

  /// The reason why the path isn't a single value, for messages.
  var reason: String {
    for case .operator(let found) in rest {
      return "In SQL, \(found.rawValue) can follow only the first to-many relationship, "
        + "\(relationship.relationship.name), directly. Use SUBQUERY, or filter the fetched objects."
    }
    return "\(text) is to-many, so it needs ANY, ALL, or @count."
  }
}

/// The value of one `?`.
///
/// It's known when the SQL is created, or taken from a constant of the predicate, so that
/// predicates of one shape share the SQL.
enum SQLBind: Sendable {
  case value(SQLiteValue)
  case constant(ConstantOrigin, BindForm)

  /// Returns the value for the constants of a predicate; `nil` if one doesn't fit.
  func value(of constants: [PredicateValue], for translator: SQLTranslator) -> SQLiteValue? {
    switch self {
    case .value(let value): value
    case .constant(let origin, let form):
      origin.value(in: constants).flatMap { form.value(of: $0, for: translator) }
    }
  }
}

/// The conversion of a constant when it's bound.
enum BindForm: Sendable {
  /// With its own type.
  case plain
  /// As the type of a column, whose affinity applies to it.
  case stored(StoredType, NSAttributeDescription?)
  /// As the type of a computed value, which has no affinity.
  case computed(StoredType)
  /// As the key of an object in the table of an entity; 0, which no row has, for one without a row
  /// in it.
  case key(SQLEntity)
  /// The lowest string with that prefix.
  case prefix
  /// The lowest string after all those with that prefix.
  case prefixEnd
  /// The string before a single trailing `*`, as `prefix` and as `prefixEnd`.
  case likePrefix
  case likePrefixEnd
  /// A regular expression, after it was validated.
  case pattern
  /// A list of strings or numbers as JSON.
  case json

  /// Returns the value to bind; `nil` for a constant that has no such form.
  ///
  /// `nil` becomes null.
  func value(of constant: PredicateValue, for translator: SQLTranslator) -> SQLiteValue? {
    if constant.isNull { return .null }
    switch self {
    case .plain: return Self.plain(constant)
    case .stored(let type, let attribute):
      return Self.stored(constant, as: type, attribute, for: translator)
    case .computed(.decimal): return constant.stored(as: .real)
    case .computed(let type): return constant.stored(as: type)
    case .key(let entity):
      return Self.key(of: constant, as: entity, for: translator).map(SQLiteValue.integer)
    case .prefix: return constant.string.map(SQLiteValue.text)
    case .prefixEnd: return constant.string.flatMap(TextPrefix.end).map(SQLiteValue.text)
    case .likePrefix:
      return constant.string.flatMap(TextPrefix.init(like:)).map { .text($0.text) }
    case .likePrefixEnd:
      return constant.string.flatMap(TextPrefix.init(like:)).flatMap { TextPrefix.end($0.text) }
        .map(SQLiteValue.text)
    case .pattern:
      guard let text = constant.string, (try? StringMatching.matches("", text, [])) != nil else {
        return nil
      }
      return .text(text)
    case .json: return Self.json(constant)
    }
  }

  /// Returns a value as the column of an attribute contains it; `nil` for one that external storage
  /// doesn't keep in the row, and for one whose bytes aren't known.
  private static func stored(
    _ constant: PredicateValue, as type: StoredType, _ attribute: NSAttributeDescription?,
    for translator: SQLTranslator
  ) -> SQLiteValue? {
    var value = constant.stored(as: type)
    if type == .transformable, let attribute, let given = constant.boxed,
      let transformer = AttributeTransformer(attribute)
    {
      value = transformer.fixedBytes(of: given).map { .blob([UInt8]($0)) }
    }
    guard let attribute, attribute.hasExternalValues else { return value }
    guard case .blob(let bytes)? = value, bytes.count <= translator.largestInRow else { return nil }
    return .blob([UInt8](ExternalStorage.inRow(Data(bytes))))
  }

  private static func plain(_ constant: PredicateValue) -> SQLiteValue? {
    guard let type = StoredType(of: constant) else { return nil }
    return constant.stored(as: type == .decimal ? .real : type)
  }

  private static func key(
    of constant: PredicateValue, as entity: SQLEntity, for translator: SQLTranslator
  ) -> Int64? {
    guard case .object(let object) = constant, let key = translator.objectKey(object.base) else {
      return nil
    }
    // An object of another hierarchy, or of an entity that the store can't contain, equals no row.
    if let name = key.entityName, translator.model.entity(named: name)?.root !== entity.root {
      return 0
    }
    return key.primaryKey ?? 0
  }

  /// Returns a list of strings, or of numbers and dates, as JSON; `nil` for any other list, for
  /// infinities, and for strings with a NUL, at which SQLite's JSON functions end a string.
  private static func json(_ constant: PredicateValue) -> SQLiteValue? {
    guard case .collection(let collection) = constant else { return nil }
    var texts: [String] = []
    var numbers: [String] = []
    for element in collection.elements {
      switch element {
      case .null: continue
      case .string(let text):
        if text.utf8.contains(0) { return nil }
        texts.append(text)
      default:
        // A floating-point number would round an integer.
        if let integer = element.exactInteger {
          numbers.append("\(integer)")
        } else if let number = element.secondsOrNumber, number.isFinite {
          numbers.append("\(number)")
        } else {
          return nil
        }
      }
    }
    if texts.isEmpty { return .text("[\(numbers.joined(separator: ","))]") }
    guard numbers.isEmpty, let data = try? JSONEncoder().encode(texts) else { return nil }
    return .text(String(decoding: data, as: UTF8.self))
  }
}

extension PredicateValue {
  /// A date as seconds since the reference date, or a number; `nil` for any other value.
  fileprivate var secondsOrNumber: Double? {
    if case .date(let date) = self { date.timeIntervalSinceReferenceDate } else { nearestDouble }
  }
}
