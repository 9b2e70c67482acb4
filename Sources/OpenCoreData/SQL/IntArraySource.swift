import ManagedModel
import SQLiteDriver

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
