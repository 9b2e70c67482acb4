import ManagedModel
import SQLiteDriver
import Synchronization

/// The properties of a predicate that its SQL depends on, without the values of its constants.
///
/// Two predicates with equal bytes have the same SQL text, with other bound values.
struct PredicateShape {
  /// The tree with the kinds of its constants.
  private(set) var bytes: [UInt8]

  /// The constants, in order.
  private(set) var constants: [PredicateValue] = []

  private var indexes: [ObjectIdentifier: Int] = [:]

  /// Creates a shape that starts with other bytes that the text depends on.
  init(_ start: [UInt8]) {
    bytes = start
  }

  /// Returns the index of a constant expression's value; `nil` for an expression that wasn't added.
  func index(of expression: NSExpression) -> Int? {
    indexes[ObjectIdentifier(expression)]
  }

  /// The elements of a shape.
  private enum Mark: UInt8 {
    case comparison, compound, truth, falsity
    case constant, sharedConstant, indexablePattern
    case evaluatedObject, variable, keyPath, path, size, function, list, subquery, conditional
  }

  /// Adds a predicate; returns `false` if its text can't be reused.
  mutating func add(_ predicate: NSPredicate) -> Bool {
    switch predicate {
    case let comparison as NSComparisonPredicate: return add(comparison)
    case let compound as NSCompoundPredicate:
      add(.compound, UInt64(compound.compoundPredicateType.rawValue))
      add(UInt64(compound.predicates.count))
      for predicate in compound.predicates where !add(predicate) { return false }
      return true
    default:
      guard case .constant(let value) = predicate.kind else { return false }
      add(value ? .truth : .falsity)
      return true
    }
  }

  private mutating func add(_ comparison: NSComparisonPredicate) -> Bool {
    let type = comparison.predicateOperatorType
    add(.comparison, UInt64(type.rawValue))
    add(UInt64(comparison.options.rawValue))
    add(UInt64(comparison.comparisonPredicateModifier.rawValue))
    let isList =
      (type == .in || type == .contains) && comparison.comparisonPredicateModifier == .direct
    guard add(comparison.leftExpression, isList: isList),
      add(comparison.rightExpression, isList: isList)
    else { return false }
    if type == .like, case .string(let pattern)? = constants.last,
      TextPrefix(like: pattern) != nil
    {
      add(.indexablePattern)
    }
    return type != .customSelector
  }

  /// Adds an expression; returns `false` if its text can't be reused.
  ///
  /// - Parameter isList: Whether a list of integers or objects may have any length.
  mutating func add(_ expression: NSExpression, isList: Bool = false) -> Bool {
    if expression.isIndependentOfObject {
      return add(constant: expression, isList: isList)
    }
    switch expression.node {
    case .evaluatedObject: add(.evaluatedObject)
    case .variable(let name): add(.variable, name)
    case .keyPath(let path): add(.keyPath, path.text)
    case .path(let base, let path):
      guard case .keyPath(let keyPath) = path.node else { return false }
      add(.path, keyPath.text)
      return add(base)
    case .subscripted(let collection, .size):
      add(.size)
      return add(collection)
    case .function(let function, let arguments):
      add(.function, function.rawValue)
      if function == .cast, case .constant(.string(let name))? = arguments.last?.node {
        add(name)
      }
      return add(arguments)
    case .aggregate(let elements):
      add(.list)
      return add(elements)
    case .subquery(let collection, let variable, let predicate):
      add(.subquery, variable)
      return add(collection) && add(predicate)
    case .conditional(let predicate, let yes, let no):
      add(.conditional)
      return add(predicate) && add(yes) && add(no)
    case .constant, .subscripted, .method, .setOperation, .anyKey, .block, .assignment, .fetch:
      return false
    }
    return true
  }

  private mutating func add(_ expressions: [NSExpression]) -> Bool {
    add(UInt64(expressions.count))
    for expression in expressions where !add(expression) { return false }
    return true
  }

  private mutating func add(constant expression: NSExpression, isList: Bool) -> Bool {
    // An expression used twice is one value; two of the same shape may be two.
    if let index = indexes[ObjectIdentifier(expression)] {
      add(.sharedConstant, UInt64(index))
      return true
    }
    guard let value = try? expression.value(for: nil).asConstant else { return false }
    indexes[ObjectIdentifier(expression)] = constants.count
    constants.append(value)
    add(.constant)
    return add(kindOf: value, isList: isList)
  }

  private mutating func add(kindOf value: PredicateValue, isList: Bool) -> Bool {
    guard case .collection(let collection) = value else {
      guard let kind = Self.kind(value) else { return false }
      bytes.append(kind)
      return true
    }
    let elements = collection.elements
    var kinds: Set<UInt8> = []
    for element in elements {
      guard let kind = Self.kind(element) else { return false }
      kinds.insert(kind)
    }
    let only = kinds.count == 1 ? kinds.first : nil
    if isList, let only, only == UInt8(ascii: "i") || only == UInt8(ascii: "o") {
      bytes += [UInt8(ascii: "["), only]
      return true
    }
    bytes.append(UInt8(ascii: "("))
    add(UInt64(elements.count))
    if let only {
      bytes.append(only)
    } else {
      bytes += elements.compactMap(Self.kind)
    }
    return true
  }

  private static func kind(_ value: PredicateValue) -> UInt8? {
    switch value {
    case .null: UInt8(ascii: "n")
    case .bool, .integer: UInt8(ascii: "i")
    case .double: UInt8(ascii: "f")
    case .decimal: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .url: UInt8(ascii: "u")
    case .date: UInt8(ascii: "t")
    case .data: UInt8(ascii: "b")
    case .uuid: UInt8(ascii: "g")
    case .object: UInt8(ascii: "o")
    case .collection, .dictionary, .placeholder: nil
    }
  }

  // MARK: Bytes

  private mutating func add(_ mark: Mark) {
    bytes.append(mark.rawValue)
  }

  private mutating func add(_ mark: Mark, _ number: UInt64) {
    add(mark)
    add(number)
  }

  private mutating func add(_ mark: Mark, _ text: String) {
    add(mark)
    add(text)
  }

  /// Adds an integer, with seven bits in each byte.
  mutating func add(_ number: UInt64) {
    var rest = number
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Adds a string, preceded by its length.
  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}

extension PredicateShape {
  /// Creates the shape of a whole fetch; `nil` if its text can't be reused.
  init?(
    entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor], limit: Int, offset: Int,
    includesSubentities: Bool, result: SQLTranslator.Result
  ) {
    self.init([])
    add(UInt64(result.rawValue))
    guard
      add(
        entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
        includesSubentities: includesSubentities)
    else { return nil }
  }

  /// Creates the shape of a dictionary fetch; `nil` if its text can't be reused.
  ///
  /// It includes keys, which map the columns to the entries.
  init?(
    _ plan: DictionaryPlan, entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor],
    limit: Int, offset: Int, includesSubentities: Bool, isCounted: Bool
  ) {
    self.init([])
    let kinds = UInt64(SQLTranslator.Result.count.rawValue)
    add(kinds + (isCounted ? 1 : 2))
    guard
      add(
        entity: entity, predicate: predicate, sort: sort, limit: limit, offset: offset,
        includesSubentities: includesSubentities)
    else { return nil }
    add(plan.isDistinct ? 1 : 0)
    for columns in [plan.columns, plan.groups] {
      add(UInt64(columns.count))
      for column in columns {
        add(column.name)
        add(UInt64(column.resultType?.rawValue ?? 0))
        add(column.isComputed ? 1 : 0)
        guard add(column.expression) else { return nil }
      }
    }
    add(plan.having == nil ? 0 : 1)
    if let having = plan.having, !add(checked: having) { return nil }
  }

  private mutating func add(
    entity: SQLEntity, predicate: NSPredicate?, sort: [NSSortDescriptor], limit: Int, offset: Int,
    includesSubentities: Bool
  ) -> Bool {
    add(UInt64(entity.number))
    add(UInt64(clamping: limit))
    add(UInt64(clamping: offset))
    add(includesSubentities ? 1 : 0)
    add(UInt64(sort.count))
    for descriptor in sort {
      guard let key = descriptor.key, let comparison = descriptor.comparison else { return false }
      add(key)
      add(comparison.rawValue)
      add(descriptor.ascending ? 1 : 0)
    }
    add(predicate == nil ? 0 : 1)
    guard let predicate else { return true }
    return add(checked: predicate)
  }

  private mutating func add(checked predicate: NSPredicate) -> Bool {
    predicate.depth <= StoreLimits.conditionDepth && add(predicate)
  }
}

/// The SQL of earlier fetches by shape, so that a fetch that differs only in its constants isn't
/// translated again.
///
/// Shared by the contexts of a store.
final class TranslationCache: Sendable {
  /// A translated fetch: the text, and the sources of its bound values.
  struct Entry: Sendable {
    let sql: String
    let binds: [SQLBind]
    let intArrays: [IntArraySource]
    let projection: Projection
    /// The conversion of the columns of dictionaries.
    var columns: [DictionaryQuery.Column] = []

    /// Returns the query for the constants of a predicate; `nil` if one doesn't fit.
    func query(_ constants: [PredicateValue], for translator: SQLTranslator) -> SelectQuery? {
      var values: [SQLiteValue] = []
      values.reserveCapacity(binds.count)
      for bind in binds {
        guard let value = bind.value(of: constants, for: translator) else { return nil }
        values.append(value)
      }
      var arrays: [ContiguousArray<Int64>] = []
      for source in intArrays {
        guard let array = source.values(of: constants, for: translator) else { return nil }
        arrays.append(array)
      }
      return SelectQuery(sql: sql, binds: values, intArrays: arrays, projection: projection)
    }
  }

  private struct State {
    var entries: [[UInt8]: Entry] = [:]
    var translations = 0
  }

  private let state = Mutex(State())

  /// The number of shapes beyond which the cache is emptied: a program has far fewer.
  private static let capacity = 512

  /// The number of fetches translated so far.
  var translations: Int { state.withLock { $0.translations } }

  /// Returns the translated fetch for a shape.
  func entry(_ shape: PredicateShape) -> Entry? {
    state.withLock { $0.entries[shape.bytes] }
  }

  /// Counts a translation, and caches it under its shape if it has one.
  func add(_ entry: Entry, shape: PredicateShape?) {
    state.withLock { state in
      state.translations += 1
      guard let shape else { return }
      if state.entries.count >= Self.capacity { state.entries.removeAll() }
      state.entries[shape.bytes] = entry
    }
  }
}
