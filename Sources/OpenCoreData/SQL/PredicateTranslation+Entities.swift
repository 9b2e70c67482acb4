import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// A comparison of an object's entity, or of its name, by the numbers of the entities that
  /// satisfy it.
  func entityCondition(
    _ column: SQLFragment, _ entity: SQLEntity, isName: Bool, _ other: SQLOperand,
    _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLCondition {
    if other.isNull { return .sql(try nullTest(.entity(column, entity, isName: isName), rules)) }
    if case .entity(let otherColumn, let otherEntity, isName) = other,
      rules.type == .equalTo || rules.type == .notEqualTo
    {
      // Entities of one name are one entity, so that names are compared by numbers too.
      guard entity.root === otherEntity.root else {
        return .constant(rules.type == .notEqualTo)
      }
      return .sql("\(column) \(raw: rules.sign) \(otherColumn)")
    }
    guard case .constant(let constant) = other,
      isName || [.equalTo, .notEqualTo, .in].contains(rules.type)
    else {
      throw TranslationError(
        rules.piece, "An entity can be compared with entities, its name with texts only.")
    }
    // Which entities satisfy it is part of the text.
    isReusable = false
    var numbers: [Int] = []
    for candidate in entity.family where try holds(candidate, rules, constant) {
      numbers.append(candidate.number)
    }
    return Self.condition(column, is: numbers.sorted())
  }

  /// Whether a row's entity is one of those with the numbers.
  static func condition(_ column: SQLFragment, is numbers: [Int]) -> SQLCondition {
    let binds = numbers.map { SQLBind.value(.integer(Int64($0))) }
    switch numbers.count {
    case 0: return .constant(false)
    case 1: return .sql(column + SQLFragment(sql: " = ?", binds: binds))
    default:
      let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
      return .sql(column + SQLFragment(sql: " IN (\(marks))", binds: binds))
    }
  }

  private func holds(
    _ entity: SQLEntity, _ rules: ComparisonRules, _ constant: PredicateConstant
  ) throws(TranslationError) -> Bool {
    // Entities are compared by name: another instance of the model has equal ones.
    let comparison = NSComparisonPredicate(
      leftExpression: NSExpression(forConstantValue: entity.name),
      rightExpression: NSExpression(forConstantValue: Self.names(constant.value)),
      modifier: .direct, type: rules.type, options: rules.options)
    return try evaluated(comparison)
  }

  /// A constant with the names of entities in the place of the entities.
  private static func names(_ value: PredicateValue) -> Any? {
    switch value {
    case .object(let object):
      (object.base as? NSEntityDescription)?.name ?? value.original
    case .collection(let collection): collection.elements.map { names($0) ?? NSNull() }
    default: value.original
    }
  }
}
