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

  /// The contents of `_Z_intarray0` and so on.
  private(set) var intArrays: [ContiguousArray<Int64>] = []

  /// Whether a row may come more than once and must not.
  var isDistinct = false

  /// Nesting beyond this is refused: SQLite's own limit is not far above.
  static let maximumDepth = 250

  init(_ translator: SQLTranslator, entity: SQLEntity) {
    self.translator = translator
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
    return try condition(predicate, at: Site(scopes: [root], isRequired: true))
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
  func intArray(_ values: ContiguousArray<Int64>) -> String {
    intArrays.append(values)
    return "_Z_intarray\(intArrays.count - 1)"
  }
}
