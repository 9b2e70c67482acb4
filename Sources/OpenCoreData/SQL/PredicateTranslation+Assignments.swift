import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Returns the value that a batch update assigns to an attribute, computed from the attributes of
  /// the row; its storage class is that of saved values.
  func assignment(
    of expression: NSExpression, to slot: RowSlot
  ) throws(TranslationError) -> SQLFragment {
    if expression.depth > StoreLimits.conditionDepth {
      throw TranslationError(
        slot.name,
        "It's nested \(expression.depth) levels deep; the limit in SQL is \(StoreLimits.conditionDepth)."
      )
    }
    var value = try assigned(expression, to: slot)
    if root.hasJoins || hasSubselects {
      throw TranslationError(
        expression.description,
        "An UPDATE computes values from attributes of the same row; it can't follow a relationship. "
          + "Fetch the objects and set the attribute instead.")
    }
    if value.sql.first == " " { value.sql.removeFirst() }
    return value
  }

  private func assigned(
    _ expression: NSExpression, to slot: RowSlot
  ) throws(TranslationError) -> SQLFragment {
    guard let attribute = slot.property as? NSAttributeDescription else {
      throw TranslationError(slot.name, "This isn't an attribute.")
    }
    if case .conditional(let predicate, let yes, let no) = expression.node,
      !expression.isIndependentOfObject
    {
      let condition = try condition(predicate, at: columnSite).fragment
      let first = try assigned(yes, to: slot)
      let second = try assigned(no, to: slot)
      return "CASE WHEN \(condition) THEN \(first) ELSE \(second) END"
    }
    let found = try operand(expression, at: columnSite)
    if case .constant(let constant) = found {
      let type = StoredType(attribute.attributeType)
      guard slot.kind != .transformable, let bind = bind(constant, as: .stored(type, attribute))
      else {
        throw mismatch(expression, slot)
      }
      return Self.stored("\(bind: bind)", as: slot.kind)
    }
    let (fragment, type) = try value(of: found, expression, at: columnSite)
    if let type, !Self.fits(type, slot.kind) { throw mismatch(expression, slot) }
    return Self.stored(fragment, as: slot.kind)
  }

  private func mismatch(_ expression: NSExpression, _ slot: RowSlot) -> TranslationError {
    TranslationError(
      expression.description,
      "The value doesn't have the type of \(slot.property). CAST converts numbers, strings, and dates."
    )
  }

  /// Returns whether a computed value can be assigned to a slot.
  private static func fits(_ type: StoredType, _ kind: RowSlot.Kind) -> Bool {
    switch kind {
    case .int16, .int32, .int64, .bool, .double, .float, .decimal:
      type.isNumber && type != .timestamp
    case .date: type == .timestamp
    case .string, .uri: type == .text
    case .uuid: type == .uuid
    case .data: type == .binary
    case .transformable, .external, .toOne, .toOnePolymorphic: false
    }
  }

  /// Returns a value as a slot's column stores it: a Boolean as 0 or 1, an integer without a
  /// fraction, a float with its precision.
  ///
  /// The affinity of the other columns converts numbers.
  static func stored(_ value: SQLFragment, as kind: RowSlot.Kind) -> SQLFragment {
    switch kind {
    case .bool: "(\(value) <> 0)"
    case .int16, .int32, .int64: "\(raw: AssignedInteger.function)(\(value))"
    case .float: "\(raw: AssignedFloat.function)(\(value))"
    default: value
    }
  }
}
