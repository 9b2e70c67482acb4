import OpenCoreData
import PostgresDriver

import class ManagedModel.NSComparisonPredicate

extension PredicateTranslator {
  /// Returns `BEGINSWITH`, `ENDSWITH`, `CONTAINS`, `LIKE`, and `MATCHES` between two strings.
  ///
  /// Without options, strings are compared by their bytes, as in Core Data.
  func matches(
    _ text: PredicateOperand, _ pattern: PredicateOperand, _ rules: ComparisonRules
  ) throws -> SQLText {
    try requireText(text, rules)
    try requireText(pattern, rules)
    if text.isNil || pattern.isNil { return "NULL::boolean" }
    if rules.isLenient, let found = try lenient(text, pattern, rules) { return found }
    let (whole, part) = (try string(text, rules), try string(pattern, rules))
    switch rules.type {
    case .beginsWith: return "starts_with(\(whole), \(part))"
    case .endsWith: return "right(\(whole), length(\(part))) = \(part)"
    case .contains: return "strpos(\(whole), \(part)) > 0"
    case .like:
      guard case .constant(let value as String) = pattern else {
        throw TranslationError(
          rules.piece, "SQL can't express LIKE with a pattern that isn't a constant.")
      }
      return "\(whole) LIKE \(bind: .text(LikePattern(value).sql))"
    default:
      guard case .constant(let value as String) = pattern else {
        throw TranslationError(
          rules.piece, "SQL can't express MATCHES with a pattern that isn't a constant.")
      }
      var expression = RegularExpression(value)
      guard let sql = expression.sql() else {
        throw TranslationError(
          rules.piece,
          "PostgreSQL's regular expressions differ from those of MATCHES in this pattern: use characters, "
            + ". | ( ) [a-z] * + ? {m,n}, and escaped signs only.")
      }
      return "\(whole) ~ \(bind: .text(sql))"
    }
  }

  private func requireText(_ operand: PredicateOperand, _ rules: ComparisonRules) throws {
    switch operand {
    case .constant(nil), .value(_, .text): return
    case .constant(let value?) where value is String || value is URL: return
    case .toMany(let path):
      throw TranslationError(
        rules.piece, "\(path.text) is to-many, so it needs ANY, ALL, or @count.")
    default: throw TranslationError(rules.piece, "A string is needed on both sides.")
    }
  }

  private func string(_ operand: PredicateOperand, _ rules: ComparisonRules) throws -> SQLText {
    switch operand {
    case .value(let text, _): return text
    case .constant(let value?): return "\(bind: try Self.parameter(value, .text, rules.piece))"
    default: throw TranslationError(rules.piece, "A string is needed on both sides.")
    }
  }
}

/// A pattern of `LIKE`: `?` is one character, `*` any number, and `\` escapes the next.
struct LikePattern {
  /// The same pattern for the server's LIKE.
  let sql: String

  init(_ pattern: String) {
    var sql = ""
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if !isEscaped, scalar == "\\" {
        isEscaped = true
      } else if !isEscaped, scalar == "?" {
        sql += "_"
      } else if !isEscaped, scalar == "*" {
        sql += "%"
      } else {
        if "%_\\".unicodeScalars.contains(scalar) { sql += "\\" }
        sql.unicodeScalars.append(scalar)
        isEscaped = false
      }
    }
    self.sql = isEscaped ? sql + "\\\\" : sql
  }
}
