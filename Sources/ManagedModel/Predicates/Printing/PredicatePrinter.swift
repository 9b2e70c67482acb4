internal import Foundation

/// Writes predicates and expressions in Apple's canonical form.
package enum PredicatePrinter {
  /// The predicate's text; what it prints parses to an equal tree.
  ///
  /// A tree of more than `NSPredicate.maximumDepth` levels has no text of its own.
  package static func text(of predicate: NSPredicate) -> String {
    guard predicate.depth <= NSPredicate.maximumDepth else {
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

  /// A part of a compound, in parentheses if it is an AND or an OR.
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
  /// As it is printed.
  ///
  /// `.customSelector` has no text of its own.
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
  /// `[cd]`; nothing without options.
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
