import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// `CAST(value, "NSNumber")` and its kin.
  ///
  /// Between numbers and dates nothing is done: a date is stored as a number.
  func cast(
    _ arguments: [NSExpression], at site: Site, _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard case .constant(let name) = try operand(arguments[1], at: site),
      let target = name.value.string.flatMap(CastTarget.init)
    else {
      throw TranslationError(
        expression.description,
        "CAST makes one of: " + CastTarget.allCases.map(\.rawValue).joined(separator: ", ") + ".")
    }
    let found = try operand(arguments[0], at: site)
    let (fragment, type) = try value(of: found, arguments[0], at: site)
    let source = Self.attributeType(of: found, type)
    let result = target.storedType
    switch (target, source) {
    case (.number, .dateAttributeType), (.decimal, .dateAttributeType):
      // Read as a number that may be stored whole.
      return .computed(fragment, .decimal)
    case (.number, _) where type?.isNumber == true: return .computed(fragment, type ?? .integer)
    case (.decimal, _), (.date, _):
      if type?.isNumber == true { return .computed(fragment, result) }
    case (.string, _) where type == .text: return .computed(fragment, .text)
    default: break
    }
    return call(
      .cast,
      [
        fragment, "\(bind: .text(target.rawValue))",
        "\(bind: .integer(Int64(source.rawValue)))",
      ], result)
  }

  /// What the values of an operand stand for.
  private static func attributeType(
    of operand: SQLOperand, _ type: StoredType?
  ) -> NSAttributeType {
    if case .attribute(_, let attribute) = operand { return attribute.attributeType }
    switch type {
    case .timestamp: return .dateAttributeType
    case .uuid: return .UUIDAttributeType
    case .decimal: return .decimalAttributeType
    default: return .undefinedAttributeType
    }
  }
}

extension CastTarget {
  /// How a value of the type is stored.
  fileprivate var storedType: StoredType {
    switch self {
    case .number: .real
    case .decimal: .decimal
    case .string, .url: .text
    case .date: .timestamp
    case .data: .binary
    case .uuid: .uuid
    }
  }
}
