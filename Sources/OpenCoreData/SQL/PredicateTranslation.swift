import ManagedModel
import SQLiteDriver

/// Turns one predicate into the condition of one SELECT.
///
/// Lives as long as that SELECT is written: it counts aliases and gathers joins and lists.
final class PredicateTranslation {
  let translator: SQLTranslator
  let aliases = AliasCounter()

  /// The query's own `FROM`.
  let root: TranslationScope

  /// The constants of the predicate and where they are, nil when its text serves it alone.
  let shape: PredicateShape?

  /// What is in `_Z_intarray0` and so on.
  private(set) var intArrays: [IntArraySource] = []

  /// Whether a row may come more than once and must not.
  var isDistinct = false

  /// Whether `ANY` may join its elements to the query's own rows, which are made distinct then.
  var joinsToMany = true

  /// Whether a function of one key path is over the rows of the result or of a group: in columns of
  /// dictionaries and in conditions on groups.
  var aggregatesRows = false

  /// Whether a join that multiplies the rows spoils nothing.
  var mayMultiplyRows = false

  /// The computed columns of dictionaries.
  var computed = ComputedColumns()

  /// Whether the text would be the same for other constants.
  var isReusable = true

  /// Nesting beyond this is refused: SQLite's own limit is not far above.
  static let maximumDepth = 250

  /// More values are refused: SQLite numbers up to 32,766 of them in one statement.
  static let mostValues = 32_000

  init(_ translator: SQLTranslator, entity: SQLEntity, shape: PredicateShape? = nil) {
    self.translator = translator
    self.shape = shape
    root = TranslationScope(entity: entity, variable: nil, aliases: aliases)
    root.begin(at: TranslationPosition(entity: entity, alias: Projection.alias))
  }

  /// Where in the statement a piece stands.
  struct Site {
    /// The scopes whose names can be seen, the innermost last.
    var scopes: [TranslationScope]

    /// Whether the whole condition of the innermost scope is false when this piece is not true.
    var isRequired: Bool

    var scope: TranslationScope { scopes[scopes.count - 1] }

    var optional: Site { Site(scopes: scopes, isRequired: false) }
  }

  /// The condition of a predicate for the query's own rows.
  func condition(_ predicate: NSPredicate) throws(TranslationError) -> SQLCondition {
    if predicate.depth > Self.maximumDepth {
      throw TranslationError(
        "the predicate",
        "It is nested \(predicate.depth) levels deep; SQL takes \(Self.maximumDepth).")
    }
    let found = try condition(predicate, at: Site(scopes: [root], isRequired: true))
    if found.fragment.binds.count > Self.mostValues {
      throw TranslationError(
        "the predicate",
        "It has \(found.fragment.binds.count) values; SQL takes \(Self.mostValues). Compare with a "
          + "list instead: name IN %@.")
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
          "a block predicate", "Only memory can run a block; the store needs SQL.")
      case .subclass, .comparison, .compound:
        throw TranslationError(
          String(describing: type(of: predicate)), "This class of predicate has no SQL.")
      }
    }
  }

  private func condition(
    _ compound: NSCompoundPredicate, at site: Site
  ) throws(TranslationError) -> SQLCondition {
    var conditions: [SQLCondition] = []
    let isConjunction = compound.compoundPredicateType == .and
    let inner = isConjunction || compound.predicates.count == 1 ? site : site.optional
    switch compound.compoundPredicateType {
    case .not:
      guard let only = compound.predicates.first else { return .constant(true) }
      return .not(try condition(only, at: site.optional))
    case .and, .or:
      for predicate in compound.predicates {
        conditions.append(try condition(predicate, at: inner))
      }
      return isConjunction ? .all(conditions) : .any(conditions)
    }
  }

  /// Puts keys or whole numbers into a list of their own and returns its name.
  func intArray(_ source: IntArraySource) -> String {
    intArrays.append(source)
    return "_Z_intarray\(intArrays.count - 1)"
  }
}
