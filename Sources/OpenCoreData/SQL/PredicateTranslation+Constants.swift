import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// The value of an expression which does not depend on the row.
  func constant(_ expression: NSExpression) throws(TranslationError) -> PredicateConstant {
    if let shape, let index = shape.index(of: expression) {
      return PredicateConstant(
        value: shape.constants[index], origin: ConstantOrigin(index: index))
    }
    let value: PredicateValue
    do {
      value = try expression.value(for: nil)
    } catch {
      throw TranslationError(expression.description, "\(error)")
    }
    if case .placeholder(let text) = value {
      throw TranslationError(text, "The placeholder was given no value.")
    }
    return PredicateConstant(value: value)
  }

  /// A constant by its own type.
  ///
  /// The type is nil for nil.
  func plain(
    _ constant: PredicateConstant, _ expression: NSExpression
  ) throws(TranslationError) -> (value: SQLBind, type: StoredType?) {
    guard let bind = bind(constant, as: .plain) else {
      throw TranslationError(expression.description, "This is no single value.")
    }
    return (bind, StoredType(of: constant.value))
  }

  /// A constant in the type of the column it is compared with.
  func bind(
    _ constant: PredicateConstant, as type: StoredType, _ attribute: NSAttributeDescription?,
    _ piece: String
  ) throws(TranslationError) -> SQLBind {
    let form = attribute.map { BindForm.stored(type, $0) } ?? .computed(type)
    if let bind = bind(constant, as: form) { return bind }
    let name = attribute.map { "\($0)" } ?? "a value of the type \(type.declaration)"
    throw TranslationError(piece, "\(constant.value.summary) cannot be compared with \(name).")
  }

  /// A constant in some form, nil when it has none.
  func bind(_ constant: PredicateConstant, as form: BindForm) -> SQLBind? {
    guard let value = form.value(of: constant.value, for: translator) else { return nil }
    return constant.origin.map { .constant($0, form) } ?? .value(value)
  }
}

extension PredicateValue {
  /// The value in words, for a message.
  fileprivate var summary: String {
    switch self {
    case .string(let text): "The text \"\(text)\""
    case .bool(let value): value ? "YES" : "NO"
    case .integer(let value): "The number \(value)"
    case .double(let value): "The number \(value)"
    case .decimal(let value): "The number \(value)"
    case .date(let date): "The date \(date)"
    case .data: "Data"
    case .uuid(let uuid): "The UUID \(uuid)"
    case .url(let url): "The URL \(url)"
    case .collection: "A collection"
    case .dictionary: "A dictionary"
    case .object(let object): "A \(type(of: object.base))"
    case .null: "nil"
    case .placeholder(let text): "The placeholder \(text)"
    }
  }
}
