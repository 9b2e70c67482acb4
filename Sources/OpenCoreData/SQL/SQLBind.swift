import ManagedModel
import SQLiteDriver

/// The value of one `?`.
///
/// It is known when the text is written, or taken from a constant of the predicate at hand, so that
/// one text serves all predicates of one shape.
enum SQLBind: Sendable {
  case value(SQLiteValue)
  case constant(ConstantOrigin, BindForm)

  /// The value for the constants of a predicate, nil when one does not fit.
  func value(of constants: [PredicateValue], for translator: SQLTranslator) -> SQLiteValue? {
    switch self {
    case .value(let value): value
    case .constant(let origin, let form):
      origin.value(in: constants).flatMap { form.value(of: $0, for: translator) }
    }
  }
}
