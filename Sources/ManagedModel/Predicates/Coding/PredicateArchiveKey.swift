internal import Foundation

/// The keys of archived predicates, expressions and sort descriptors: Apple's, where they are known.
enum PredicateArchiveKey {
  static let left = "NSLeftExpression"
  static let right = "NSRightExpression"
  static let operatorType = "NSOperatorType"
  static let modifier = "NSModifier"
  static let options = "NSOptions"
  static let selector = "NSSelectorName"
  static let compoundType = "NSCompoundPredicateType"
  static let subpredicates = "NSSubpredicates"
  static let value = "NSPredicateValue"
  static let expressionType = "NSExpressionType"
  static let constant = "NSConstantValue"
  static let constantClass = "NSConstantValueClassName"
  static let keys = "NSKeys"
  static let variable = "NSVariable"
  static let keyPath = "NSKeyPath"
  static let operand = "NSOperand"
  static let arguments = "NSArguments"
  static let collection = "NSCollection"
  static let predicate = "NSPredicate"
  static let yes = "NSTrueExpression"
  static let no = "NSFalseExpression"
  static let index = "NSSymbolicIndex"
  static let countOnly = "NSCountOnly"
}
