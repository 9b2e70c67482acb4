import ManagedModel
import SQLiteDriver

/// Translates one predicate into the condition of one SELECT.
///
/// Lives while that SELECT is created: it counts aliases and collects joins and lists.
final class PredicateTranslation {
  let translator: SQLTranslator
  let aliases = AliasCounter()

  /// The query's own `FROM`.
  let root: TranslationScope

  /// The constants of the predicate and their positions; `nil` if its text can't be reused.
  let shape: PredicateShape?

  /// The contents of `_Z_intarray0` and so on.
  private(set) var intArrays: [IntArraySource] = []

  /// Whether a row may be returned more than once and must not be.
  var isDistinct = false

  /// Whether `ANY` may join its elements to the query's own rows, which are then made distinct.
  var joinsToMany = true

  /// Whether a function of one key path is over the rows of the result or of a group: in columns of
  /// dictionaries and in having predicates.
  var aggregatesRows = false

  /// Whether a join may multiply the rows without an effect on the result.
  var mayMultiplyRows = false

  /// Whether a sum over rows is part of a larger expression, so that a sum of integers must be an
  /// integer.
  var castsSums = true

  /// The computed columns of dictionaries.
  var computed = ComputedColumns()

  /// Whether the text would be the same for other constants.
  var isReusable = true

  /// Whether a subselect reads the rows of a to-many relationship.
  var hasSubselects = false

  /// The number of the first list of keys or integers.
  private let firstIntArray: Int

  /// - Parameters:
  ///   - alias: The name of the entity's table in the statement.
  ///   - firstIntArray: The number of lists that other parts of the statement have.
  init(
    _ translator: SQLTranslator, entity: SQLEntity, shape: PredicateShape? = nil,
    alias: String = Projection.alias, firstIntArray: Int = 0
  ) {
    self.translator = translator
    self.shape = shape
    self.firstIntArray = firstIntArray
    root = TranslationScope(entity: entity, variable: nil, aliases: aliases)
    root.begin(at: TranslationPosition(entity: entity, alias: alias))
  }

  /// The position of a fragment in the statement.
  struct Site {
    /// The visible scopes, the innermost last.
    var scopes: [TranslationScope]

    /// Whether the entire condition of the innermost scope is false if this fragment isn't true.
    var isRequired: Bool

    var scope: TranslationScope { scopes[scopes.count - 1] }

    var optional: Site { Site(scopes: scopes, isRequired: false) }
  }

  /// Returns the condition of a predicate for the query's own rows.
  func condition(_ predicate: NSPredicate) throws(TranslationError) -> SQLCondition {
    if predicate.depth > StoreLimits.conditionDepth {
      throw TranslationError(
        "the predicate",
        "It's nested \(predicate.depth) levels deep; the limit in SQL is \(StoreLimits.conditionDepth)."
      )
    }
    let found = try condition(predicate, at: Site(scopes: [root], isRequired: true))
    if found.fragment.binds.count > StoreLimits.boundValues {
      throw TranslationError(
        "the predicate",
        "It has \(found.fragment.binds.count) values; the limit in SQL is "
          + "\(StoreLimits.boundValues). Compare with a list instead: name IN %@.")
    }
    return found
  }

  func condition(
    _ predicate: NSPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      return try condition(comparison, at: site)
    case let compound as NSCompoundPredicate:
      return try condition(compound, at: site)
    default:
      switch predicate.kind {
      case .constant(let value): return .constant(value)
      case .block:
        throw TranslationError(
          "a block predicate",
          "A block can be evaluated only in memory; it can't be translated to SQL.")
      case .subclass, .comparison, .compound:
        throw TranslationError(
          String(describing: type(of: predicate)),
          "A predicate of this class can't be translated to SQL.")
      }
    }
  }

  private func condition(
    _ compound: NSCompoundPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    var conditions: [SQLCondition] = []
    let isConjunction = compound.compoundPredicateType == .and
    let isDeep = compound.depth > Self.deepestNesting
    let terms = isDeep ? self.terms(of: compound) : compound.predicates
    let inner = isConjunction || terms.count == 1 ? site : site.optional
    switch compound.compoundPredicateType {
    case .not:
      guard let only = compound.predicates.first else { return .constant(true) }
      return .not(try condition(only, at: site.optional))
    case .and, .or:
      for predicate in terms {
        conditions.append(try condition(predicate, at: inner))
      }
      return isConjunction ? .all(conditions) : .any(conditions)
    }
  }

  /// The depth beyond which an AND within an AND, or an OR within an OR, isn't in parentheses.
  ///
  /// SQLite's parser has a stack of 100 entries, of which a parenthesis takes up to three.
  private static let deepestNesting = 16

  /// Returns the subpredicates, with those of nested compounds of the same type in their place.
  private func terms(of compound: NSCompoundPredicate) -> [NSPredicate] {
    compound.predicates.flatMap { part in
      guard let inner = part as? NSCompoundPredicate,
        inner.compoundPredicateType == compound.compoundPredicateType
      else { return [part] }
      return terms(of: inner)
    }
  }

  /// Adds a separate list of keys or integers and returns its name.
  func intArray(_ source: IntArraySource) -> String {
    intArrays.append(source)
    return "_Z_intarray\(firstIntArray + intArrays.count - 1)"
  }
}

/// One `FROM` with its joins: the query's own, or that of a subselect.
final class TranslationScope {
  /// A table joined to another of the scope.
  private struct Join {
    let alias: String
    let text: String
    let parent: String
    /// Whether rows without a partner can be removed, because the entire condition would be false
    /// for them.
    var isInner: Bool
  }

  let entity: SQLEntity

  /// The name of the subquery's variable, without `$`.
  let variable: String?

  /// The start of key paths in this scope.
  private(set) var start: TranslationPosition?

  private let aliases: AliasCounter
  private var joins: [Join] = []
  private var shared: [String: String] = [:]

  init(entity: SQLEntity, variable: String?, aliases: AliasCounter) {
    self.entity = entity
    self.variable = variable
    self.aliases = aliases
  }

  func begin(at position: TranslationPosition) {
    start = position
  }

  /// Returns the alias of a position's table, which is joined if necessary.
  ///
  /// - Parameters:
  ///   - isRequired: Whether rows without a partner may be removed.
  ///   - text: The key path, for the error if SQLite can't join another table.
  func alias(
    of position: TranslationPosition, isRequired: Bool, in text: String
  ) throws(TranslationError) -> String {
    switch position.location {
    case .table(let alias):
      if isRequired { require(alias) }
      return alias
    case .reference(let holder, let alias):
      if let known = shared[position.key] {
        if isRequired { require(known) }
        return known
      }
      guard tableCount < StoreLimits.joinedTables else {
        throw TranslationError(
          text,
          "Each relationship on a key path joins a table, and SQLite joins up to "
            + "\(StoreLimits.joinedTables) tables. Use fewer of them, or filter the fetched objects."
        )
      }
      let alias = alias ?? aliases.next()
      let table = SQLSyntax.quoted(position.entity.table)
      add(
        " \(table) \(alias) ON \(position.key) = \(alias).Z_PK", alias: alias, parent: holder,
        isRequired: isRequired)
      shared[position.key] = alias
      return alias
    }
  }

  /// Joins a table that may have several partners for a row.
  ///
  /// Each call joins it separately.
  func joinMany(
    _ table: String, alias: String, on condition: String, parent: String, isRequired: Bool
  ) {
    add(
      " \(SQLSyntax.quoted(table)) \(alias) ON \(condition)", alias: alias, parent: parent,
      isRequired: isRequired)
  }

  /// The joins as SQL, in the order in which they were needed.
  var text: String {
    joins.map { ($0.isInner ? " JOIN" : " LEFT OUTER JOIN") + $0.text }.joined()
  }

  var hasJoins: Bool { !joins.isEmpty }

  /// The number of tables in the `FROM`.
  var tableCount: Int { joins.count + 1 }

  private func add(_ text: String, alias: String, parent: String, isRequired: Bool) {
    joins.append(Join(alias: alias, text: text, parent: parent, isInner: false))
    if isRequired { require(alias) }
  }

  /// Changes a join, and those that it depends on, to inner joins.
  private func require(_ alias: String) {
    guard let index = joins.firstIndex(where: { $0.alias == alias }), !joins[index].isInner
    else { return }
    joins[index].isInner = true
    require(joins[index].parent)
  }
}

/// An object that a key path has reached.
struct TranslationPosition {
  enum Location {
    /// Its row is already in a table of the `FROM`.
    case table(alias: String)
    /// Only its key is known. Its row is joined when one of its columns is needed, with the alias
    /// if one was reserved; `holder` is the table that contains the key.
    case reference(holder: String, alias: String?)
  }

  let entity: SQLEntity

  /// The object's key as SQL: `t0.Z_PK`, `t0.ZCOUNTRY`.
  let key: String

  let location: Location

  init(entity: SQLEntity, alias: String) {
    self.entity = entity
    key = "\(alias).\(SQLNames.primaryKey)"
    location = .table(alias: alias)
  }

  init(entity: SQLEntity, key: String, holder: String, alias: String? = nil) {
    self.entity = entity
    self.key = key
    location = .reference(holder: holder, alias: alias)
  }
}

/// The reason why a predicate or a sort descriptor can't be translated to SQL.
struct TranslationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The part that has no SQL, in predicate format.
  let piece: String

  /// The message.
  let reason: String

  /// The suggested name if one was misspelled.
  var suggestion: String?

  /// The valid names.
  var choices: [String] = []

  init(_ piece: String, _ reason: String) {
    self.piece = piece
    self.reason = reason
  }

  /// Creates the error for a key that the entity doesn't have.
  init(unknownKey key: String, in keyPath: String, of entity: NSEntityDescription) {
    let names = entity.propertiesByName.keys.sorted()
    piece = keyPath
    reason = "\(entity.name ?? "The entity") has no property \(key)."
    choices = names
    suggestion = NearestName.of(key, among: names)
  }

  var description: String { message }

  /// The message with the part, the suggestion, and the valid names.
  var message: String {
    var text = "\(piece): \(reason)"
    if let suggestion { text += " Did you mean \(suggestion)?" }
    if !choices.isEmpty { text += " There are: \(choices.joined(separator: ", "))." }
    return text
  }
}

/// Assigns `t1`, `t2` … in one statement.
///
/// `t0` is the table of the requested entity.
final class AliasCounter {
  private var count = 0

  func next() -> String {
    count += 1
    return "t\(count)"
  }
}

/// The options of a comparison.
struct ComparisonRules {
  let type: NSComparisonPredicate.Operator
  let options: NSComparisonPredicate.Options
  private let comparison: NSComparisonPredicate

  /// The comparison in predicate format, for messages.
  ///
  /// Computed when an error needs it: a list can contain thousands of values.
  var piece: String { comparison.predicateFormat }

  init(_ comparison: NSComparisonPredicate) {
    self.init(type: comparison.predicateOperatorType, comparison)
  }

  private init(type: NSComparisonPredicate.Operator, _ comparison: NSComparisonPredicate) {
    self.type = type
    options = comparison.options
    self.comparison = comparison
  }

  /// Returns the same options with another operator.
  func with(_ type: NSComparisonPredicate.Operator) -> ComparisonRules {
    ComparisonRules(type: type, comparison)
  }

  /// Whether strings are compared otherwise than bytewise.
  var isLenient: Bool {
    !options.contains(.normalized)
      && !options.isDisjoint(with: [
        .caseInsensitive, .diacriticInsensitive, .localeSensitive, .widthInsensitive,
      ])
  }

  /// The operator in SQL, if it has one.
  var sign: String {
    switch type {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .notEqualTo: "<>"
    default: "="
    }
  }
}
