internal import Foundation

extension PredicatePrinter {
  /// The expression's text.
  package static func text(of expression: NSExpression) -> String {
    switch expression.node {
    case .constant(let value): return text(of: value)
    case .evaluatedObject: return "SELF"
    case .variable(let name): return "$" + name
    case .keyPath(let path): return text(of: path)
    case .path(let operand, let path): return operandText(of: operand) + "." + text(of: path)
    case .subscripted(let operand, let index):
      return operandText(of: operand) + "[" + text(of: index) + "]"
    case .function(let function, let arguments): return text(of: function, arguments)
    case .method(let operand, let name, let arguments):
      let parts = [text(of: operand), quoted(name)] + arguments.map(text)
      return "FUNCTION(" + parts.joined(separator: ", ") + ")"
    case .aggregate(let elements):
      return "{" + elements.map(text).joined(separator: ", ") + "}"
    case .setOperation(let operation, let left, let right):
      return operandText(of: left, precedence: 1) + " " + operation.rawValue + " "
        + operandText(of: right, precedence: 2)
    case .subquery(let collection, let variable, let predicate):
      return "SUBQUERY(\(text(of: collection)), $\(variable), \(predicate.predicateFormat))"
    case .conditional(let predicate, let yes, let no):
      return "TERNARY(\(predicate.predicateFormat), \(text(of: yes)), \(text(of: no)))"
    case .anyKey: return "ANYKEY"
    case .assignment(let name, let value): return "$\(name) := " + text(of: value)
    case .fetch(let request, let context, let countOnly):
      return "FETCH(\(text(of: request)), \(text(of: context)), \(countOnly ? "YES" : "NO"))"
    case .block(let block, let arguments):
      let parts = [address(block)] + arguments.map(text)
      return "BLOCK(" + parts.joined(separator: ", ") + ")"
    }
  }

  private static func text(of index: NSExpression.Index) -> String {
    switch index {
    case .first: "FIRST"
    case .last: "LAST"
    case .size: "SIZE"
    case .expression(let expression):
      // A lone key of such a name is told from the word by its `#`.
      switch expression.node {
      case .keyPath(let path) where path.components.count == 1: indexText(path.text)
      default: text(of: expression)
      }
    }
  }

  private static func indexText(_ key: String) -> String {
    switch PredicateKeyword.of(key) {
    case .first, .last, .size: "#" + key
    default: text(of: PredicateKeyPath(key))
    }
  }

  /// Reserved words get a `#`, and so do keys that would be read as numbers.
  static func text(of path: PredicateKeyPath) -> String {
    path.components.map { component in
      if case .key(let key) = component,
        PredicateKeyword.of(key)?.isReserved == true || key.utf8.first?.isDigit == true
      {
        return "#" + key
      }
      return PredicateKeyPath.text(component)
    }.joined(separator: ".")
  }

  private static func text(
    of function: PredicateFunction, _ arguments: [NSExpression]
  ) -> String {
    if let sign = function.infix, let precedence = function.precedence, arguments.count == 2 {
      let isPower = function == .power
      return operandText(of: arguments[0], precedence: isPower ? precedence + 1 : precedence)
        + " " + sign + " "
        + operandText(of: arguments[1], precedence: isPower ? precedence : precedence + 1)
    }
    if function == .onesComplement { return "~" + operandText(of: arguments[0]) }
    let list = arguments.map(text).joined(separator: ", ")
    return (function == .cast ? "CAST" : function.formatName) + "(" + list + ")"
  }

  /// An operand, in parentheses if its own operator binds less than `precedence`; by default, if
  /// it has an operator at all.
  private static func operandText(of expression: NSExpression, precedence: Int = 9) -> String {
    let own: Int
    switch expression.node {
    case .function(let function, _):
      own = function == .onesComplement ? 8 : function.infix == nil ? 10 : function.precedence ?? 10
    case .setOperation: own = 1
    case .assignment: own = 0
    case .constant(let value) where value.isNumber || !value.isScalar: own = 9
    default: own = 10
    }
    var text = text(of: expression)
    // A division of whole numbers is another one: 3.0 / 2 is not 3 / 2.
    if case .constant(.double) = expression.node, Int64(text) != nil { text += ".0" }
    return own < precedence ? "(" + text + ")" : text
  }
}
