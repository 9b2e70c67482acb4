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

/// Which constant of a predicate, or which element of a constant list.
struct ConstantOrigin: Hashable, Sendable {
  let index: Int
  var element: Int?

  func value(in constants: [PredicateValue]) -> PredicateValue? {
    guard let element else { return constants[index] }
    guard case .collection(let collection) = constants[index],
      element < collection.elements.count
    else { return nil }
    return collection.elements[element]
  }
}

/// A value that does not depend on the row, and where the predicate has it from.
struct PredicateConstant {
  let value: PredicateValue

  /// Nil for a constant that no other predicate of the shape can put another value for.
  var origin: ConstantOrigin?

  var isNull: Bool { value.isNull }

  /// The elements of a list, nil when the value is none.
  var elements: [PredicateConstant]? {
    guard case .collection(let collection) = value else { return nil }
    return collection.elements.enumerated().map { position, element in
      PredicateConstant(
        value: element, origin: origin.map { ConstantOrigin(index: $0.index, element: position) })
    }
  }
}

/// What fills one `_Z_intarrayN`.
enum IntArraySource: Sendable {
  case values(ContiguousArray<Int64>)
  /// The whole numbers of a constant list.
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
