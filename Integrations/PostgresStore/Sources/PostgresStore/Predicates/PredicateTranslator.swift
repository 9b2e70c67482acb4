import OpenCoreData
import PostgresDriver

import class ManagedModel.NSComparisonPredicate
import class ManagedModel.NSCompoundPredicate
import class ManagedModel.NSExpression
import class ManagedModel.NSPredicate

/// Translates the predicates of one statement into SQL conditions.
///
/// Conditions have three values, as in SQL and in Core Data's SQLite store: `!=` and NOT don't find
/// rows without a value, `ANY` is never unknown.
final class PredicateTranslator {
  let store: PostgresStore
  let schema: StoreSchema
  let aliases = AliasCounter()
  /// The statement's own FROM.
  let root: PredicateScope
  /// The computed columns of dictionaries, which orders and having predicates name.
  var computed: [String: (text: SQLText, kind: ValueKind)] = [:]
  /// Whether a function of one key path is over the rows of the result or of a group.
  var aggregatesRows = false
  /// Whether such a function was translated.
  var hasAggregatedRows = false
  /// The columns of attributes, by their text.
  var columns: [String: StoredColumn] = [:]
  /// Reads the strings that the server can't compare; nil if there is no connection.
  let strings: LenientStrings?
  private var depth = 0

  private static let maximumDepth = 300

  init(_ mapping: EntityMapping, _ store: PostgresStore, strings: LenientStrings? = nil) throws {
    self.store = store
    self.strings = strings
    schema = try store.open.schema
    root = PredicateScope(
      PredicatePosition(mapping, alias: aliases.next()), variable: nil, aliases)
  }

  /// Returns the condition of a predicate for the statement's own rows.
  ///
  /// - Throws: A `TranslationError` with the part that can't be translated.
  func condition(_ predicate: NSPredicate) throws -> SQLText {
    try condition(predicate, in: [root])
  }

  /// Returns the condition of a predicate.
  ///
  /// - Parameter scopes: The visible scopes, the innermost last.
  func condition(_ predicate: NSPredicate, in scopes: [PredicateScope]) throws -> SQLText {
    try descend()
    defer { depth -= 1 }
    switch predicate {
    case let comparison as NSComparisonPredicate: return try condition(comparison, in: scopes)
    case let compound as NSCompoundPredicate:
      let parts = try compound.predicates.map { try condition($0, in: scopes) }
      switch compound.compoundPredicateType {
      case .not: return parts.first.map { "NOT (\($0))" } ?? "TRUE"
      case .and: return .all(parts)
      case .or: return .any(parts)
      }
    default:
      switch predicate.predicateFormat {
      case "TRUEPREDICATE": return "TRUE"
      case "FALSEPREDICATE": return "FALSE"
      default:
        throw TranslationError(
          predicate.predicateFormat,
          "A block, or a subclass of NSPredicate, can be evaluated only in memory; SQL can't express it."
        )
      }
    }
  }

  /// Counts a level of the tree, whose depth limits the recursion.
  private func descend() throws {
    guard depth < Self.maximumDepth else {
      throw TranslationError(
        "the predicate", "It's nested too deeply; the limit is \(Self.maximumDepth) levels.")
    }
    depth += 1
  }

  // MARK: Operands

  /// Returns the operand for an expression.
  func operand(_ expression: NSExpression, in scopes: [PredicateScope]) throws -> PredicateOperand {
    try descend()
    defer { depth -= 1 }
    switch expression.expressionType {
    case .constantValue: return constant(expression.constantValue)
    case .evaluatedObject: return try walk([], in: scopes[0], text: "SELF")
    case .variable:
      if let found = computed[expression.variable] { return .value(found.text, found.kind) }
      return try walk([], in: try scope(expression.variable, scopes), text: expression.description)
    case .keyPath: return try keyPath(expression.keyPath, in: scopes)
    case .aggregate:
      let elements = expression.collection as? [NSExpression] ?? []
      guard elements.allSatisfy({ $0.expressionType == .constantValue }) else {
        return .list(elements)
      }
      return .collection(elements.map { Self.present($0.constantValue) })
    case .subquery: return .toMany(try subquery(expression, in: scopes))
    case .function: return try function(expression, in: scopes)
    default:
      throw TranslationError(
        expression.description,
        "This expression can be evaluated only in memory; SQL can't express it.")
    }
  }

  private func constant(_ value: Any?) -> PredicateOperand {
    switch Self.present(value) {
    case let list as [Any]: .collection(list.map { Self.present($0) })
    case let set as Set<AnyHashable>: .collection(set.map { Self.present($0.base) })
    case let list as NSArray: .collection(list.map { Self.present($0) })
    case let set as NSSet: .collection(set.map { Self.present($0) })
    case let set as NSOrderedSet: .collection(set.array.map { Self.present($0) })
    case let value: .constant(value)
    }
  }

  /// Returns nil for `NSNull`.
  static func present(_ value: Any?) -> Any? { value is NSNull ? nil : value }

  private func keyPath(_ text: String, in scopes: [PredicateScope]) throws -> PredicateOperand {
    if let found = computed[text] { return .value(found.text, found.kind) }
    var keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if aggregatesRows, scopes.count == 1, let name = keys.first, name.hasPrefix("@") {
      let argument =
        keys.count == 1
        ? NSExpression.expressionForEvaluatedObject()
        : NSExpression(forKeyPath: keys.dropFirst().joined(separator: "."))
      return try rowAggregate(String(name.dropFirst()), argument, text: text)
    }
    guard text.hasPrefix("$") else { return try walk(keys[...], in: scopes[0], text: text) }
    let variable = String(keys.removeFirst().dropFirst())
    return try walk(keys[...], in: try scope(variable, scopes), text: text)
  }

  private func scope(_ variable: String, _ scopes: [PredicateScope]) throws -> PredicateScope {
    guard let scope = scopes.last(where: { $0.variable == variable }) else {
      throw TranslationError("$\(variable)", "The variable has no value.")
    }
    return scope
  }

  private func subquery(
    _ expression: NSExpression, in scopes: [PredicateScope]
  ) throws -> ToManyPath {
    guard let collection = expression.collection as? NSExpression,
      case .toMany(let path) = try operand(collection, in: scopes), path.rest.isEmpty,
      path.filter == nil
    else {
      throw TranslationError(
        expression.description, "SUBQUERY takes a path that ends in a to-many relationship.")
    }
    return ToManyPath(
      scope: path.scope, source: path.source, toMany: path.toMany, rest: [], text: path.text,
      filter: (expression.variable, expression.predicate))
  }

  /// Returns a key path that follows another expression.
  func path(
    _ base: NSExpression, _ path: NSExpression, in scopes: [PredicateScope], text: String
  ) throws -> PredicateOperand {
    guard path.expressionType == .keyPath else {
      throw TranslationError(text, "SQL can't express a key path that is known only at run time.")
    }
    let keys = path.keyPath.split(separator: ".").map(String.init)
    switch base.expressionType {
    case .evaluatedObject: return try walk(keys[...], in: scopes[0], text: text)
    case .variable:
      return try walk(keys[...], in: try scope(base.variable, scopes), text: text)
    case .keyPath: return try keyPath(base.keyPath + "." + path.keyPath, in: scopes)
    case .subquery:
      let found = try subquery(base, in: scopes)
      return .toMany(
        ToManyPath(
          scope: found.scope, source: found.source, toMany: found.toMany, rest: keys, text: text,
          filter: found.filter))
    default:
      throw TranslationError(text, "SQL can't express a key path of this value.")
    }
  }
}

extension SQLText {
  /// Returns a conjunction; true if it's empty.
  static func all(_ conditions: [SQLText]) -> SQLText { joined(conditions, "AND", empty: "TRUE") }

  /// Returns a disjunction; false if it's empty.
  static func any(_ conditions: [SQLText]) -> SQLText { joined(conditions, "OR", empty: "FALSE") }

  private static func joined(_ parts: [SQLText], _ word: String, empty: SQLText) -> SQLText {
    switch parts.count {
    case 0: empty
    case 1: parts[0]
    default: "(\(.joined(parts.map { "(\($0))" }, by: " \(word) ")))"
    }
  }
}
