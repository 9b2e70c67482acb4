internal import Foundation

/// Formats predicates and expressions in Foundation's canonical form.
package enum PredicatePrinter {
  /// Returns the predicate's format, which parses to an equal tree.
  ///
  /// A tree deeper than `ModelLimits.predicateTreeDepth` has no parsable format.
  package static func text(of predicate: NSPredicate) -> String {
    guard predicate.depth <= ModelLimits.predicateTreeDepth else {
      return "NESTEDPREDICATE(\(predicate.depth) levels)"
    }
    return switch predicate.form {
    case .comparison(let comparison): text(of: comparison)
    case .compound(let type, let predicates): text(of: type, predicates)
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .block: "BLOCKPREDICATE(\(address(predicate)))"
    case .unknown: "\(type(of: predicate))"
    }
  }

  private static func text(of comparison: NSComparisonPredicate) -> String {
    let modifier: String
    switch comparison.comparisonPredicateModifier {
    case .direct: modifier = ""
    case .any: modifier = "ANY "
    case .all: modifier = "ALL "
    }
    let sign = comparison.customSelectorName ?? comparison.predicateOperatorType.sign
    return modifier + text(of: comparison.leftExpression) + " " + sign + comparison.options.text
      + " " + text(of: comparison.rightExpression)
  }

  private static func text(
    of type: NSCompoundPredicate.LogicalType, _ parts: [NSPredicate]
  ) -> String {
    switch type {
    case .not: return "NOT " + operandText(of: parts[0])
    case .and where parts.isEmpty: return "TRUEPREDICATE"
    case .or where parts.isEmpty: return "FALSEPREDICATE"
    case .and, .or:
      if parts.count == 1 { return parts[0].predicateFormat }
      let word = type == .and ? " AND " : " OR "
      return parts.map(operandText).joined(separator: word)
    }
  }

  /// Returns a subpredicate of a compound, in parentheses if it's an AND or an OR.
  private static func operandText(of predicate: NSPredicate) -> String {
    var inner = predicate
    while let compound = inner as? NSCompoundPredicate, compound.predicates.count == 1,
      compound.compoundPredicateType != .not
    {
      inner = compound.predicates[0]
    }
    guard let compound = inner as? NSCompoundPredicate, compound.predicates.count > 1 else {
      return inner.predicateFormat
    }
    return "(" + compound.predicateFormat + ")"
  }

  static func address(_ object: AnyObject) -> String {
    "0x" + String(UInt(bitPattern: ObjectIdentifier(object)), radix: 16)
  }
}

extension NSComparisonPredicate.Operator {
  /// The operator in a format.
  ///
  /// `.customSelector` has none.
  package var sign: String {
    switch self {
    case .lessThan: "<"
    case .lessThanOrEqualTo: "<="
    case .greaterThan: ">"
    case .greaterThanOrEqualTo: ">="
    case .equalTo: "=="
    case .notEqualTo: "!="
    case .matches: "MATCHES"
    case .like: "LIKE"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .in: "IN"
    case .customSelector: ""
    case .contains: "CONTAINS"
    case .between: "BETWEEN"
    }
  }
}

extension NSComparisonPredicate.Options {
  /// The options in a format, such as `[cd]`; empty without options.
  package var text: String {
    if isEmpty { return "" }
    var letters = ""
    if contains(.caseInsensitive) { letters += "c" }
    if contains(.diacriticInsensitive) { letters += "d" }
    if contains(.normalized) { letters += "n" }
    if contains(.localeSensitive) { letters += "l" }
    if contains(.widthInsensitive) { letters += "w" }
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}

extension PredicatePrinter {
  /// Returns the format of a constant.
  ///
  /// Dates, data, UUIDs, and URLs are casts.
  package static func text(of value: PredicateValue) -> String {
    switch value {
    case .null: "nil"
    case .bool(let value): value ? "1" : "0"
    case .integer(let value): String(value)
    case .double(let value): number(value)
    case .decimal(let value): number(value)
    case .string(let value): quoted(value)
    case .date(let value):
      "CAST(" + dateText(value.timeIntervalSinceReferenceDate) + ", \"NSDate\")"
    case .data(let value): "CAST(" + quoted(value.base64EncodedString()) + ", \"NSData\")"
    case .uuid(let value): "CAST(" + quoted(value.uuidString) + ", \"NSUUID\")"
    case .url(let value): "CAST(" + quoted(value.absoluteString) + ", \"NSURL\")"
    case .collection(let collection):
      "{" + collection.elements.map(text).joined(separator: ", ") + "}"
    case .dictionary(_, let original): "\(original)"
    case .object(let object): "\(object.base)"
    case .placeholder(let text): text
    }
  }

  /// Returns a value as a string for `CAST(…, "NSString")`, or `nil` for values without one.
  static func plainText(of value: PredicateValue) -> String? {
    switch value {
    case .string(let text): text
    case .uuid(let value): value.uuidString
    case .url(let value): value.absoluteString
    case .date(let value): seconds(value.timeIntervalSinceReferenceDate)
    case .data(let value): value.base64EncodedString()
    default: value.isNumber ? text(of: value) : nil
    }
  }

  static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // An XML document can't contain these.
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": text += String(format: "\\u%04x", scalar.value)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }

  /// Returns a number, with integers without a fraction, as in Foundation.
  private static func number(_ value: Double) -> String {
    if let whole = Int64(exactly: value), abs(value) < 0x1p53 { return String(whole) }
    return value.isFinite ? "\(value)" : "CAST(\"\(value)\", \"NSNumber\")"
  }

  /// Returns a decimal as digits if the parser reads them without loss, and as a cast otherwise.
  private static func number(_ value: Decimal) -> String {
    let text = "\(value)"
    if let double = Double(text), Decimal(string: "\(double)") == value { return text }
    return text.utf8.count > 15 ? text : cast(value)
  }

  private static func cast(_ value: Decimal) -> String {
    "CAST(" + quoted("\(value)") + ", \"NSDecimalNumber\")"
  }

  /// Returns whether the parser reads the digits of a decimal as a decimal.
  private static func isReadAsDecimal(_ value: Decimal) -> Bool {
    let text = "\(value)"
    guard Int64(text) == nil, let double = Double(text) else { return false }
    return Decimal(string: "\(double)") != value && text.utf8.count > 15
  }

  /// Returns the first argument of a date's cast; infinity is a string, because a format can't
  /// contain it as a number.
  private static func dateText(_ value: TimeInterval) -> String {
    value.isFinite ? seconds(value) : quoted("\(value)")
  }

  /// Returns seconds with six decimal places, as in Foundation, or with more if precision would be
  /// lost.
  private static func seconds(_ value: TimeInterval) -> String {
    let fixed = String(format: "%.6f", value)
    return Double(fixed) == value ? fixed : "\(value)"
  }
}

extension PredicatePrinter {
  /// Returns the format of an expression.
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
    case .assignment(let name, let value): return "$\(name) := " + exactText(of: value)
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
      // A `#` distinguishes a key of this name from the keyword.
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

  /// Returns the format of a key path, with a `#` before reserved words and keys that look like
  /// numbers.
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
    return call(function, arguments.map(text))
  }

  private static func call(_ function: PredicateFunction, _ arguments: [String]) -> String {
    (function == .cast ? "CAST" : function.formatName) + "(" + arguments.joined(separator: ", ")
      + ")"
  }

  /// Returns the format of an operand, or of an expression within one.
  ///
  /// Floating-point integers have a fraction, because integer division differs: `3.0 / 2` isn't
  /// `3 / 2`. Decimals are casts, because `0.1 + 0.2` is `0.3` only with decimals.
  private static func exactText(of expression: NSExpression) -> String {
    switch expression.node {
    case .constant(let value): exactText(of: value)
    case .function(let function, let arguments) where function.infix == nil:
      function == .onesComplement
        ? text(of: expression) : call(function, arguments.map(exactText))
    case .aggregate(let elements):
      "{" + elements.map(exactText).joined(separator: ", ") + "}"
    case .conditional(let predicate, let yes, let no):
      "TERNARY(\(predicate.predicateFormat), \(exactText(of: yes)), \(exactText(of: no)))"
    default: text(of: expression)
    }
  }

  private static func exactText(of value: PredicateValue) -> String {
    switch value {
    case .double:
      let text = text(of: value)
      return Int64(text) == nil ? text : text + ".0"
    case .decimal(let number):
      return isReadAsDecimal(number) ? text(of: value) : cast(number)
    case .collection(let collection):
      return "{" + collection.elements.map(exactText).joined(separator: ", ") + "}"
    default: return text(of: value)
    }
  }

  /// Returns an operand, in parentheses if its own operator has a lower precedence; by default, if
  /// it has an operator.
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
    let text = exactText(of: expression)
    return own < precedence ? "(" + text + ")" : text
  }
}
