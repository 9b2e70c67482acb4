import OpenCoreData
import PostgresDriver

import class ManagedModel.NSExpression

extension PredicateTranslator {
  /// Returns the value of a function.
  func function(
    _ expression: NSExpression, in scopes: [PredicateScope]
  ) throws -> PredicateOperand {
    let arguments = expression.arguments ?? []
    let text = expression.description
    switch (expression.function, arguments.count) {
    case ("valueForKeyPath:", 1):
      return try path(expression.operand, arguments[0], in: scopes, text: text)
    case ("now", 0): return .constant(Date())
    case ("noindex:", 1): return try operand(arguments[0], in: scopes)
    case ("count:", 1), ("sum:", 1), ("min:", 1), ("max:", 1), ("average:", 1):
      return try aggregate(String(expression.function.dropLast()), arguments[0], in: scopes, text)
    case ("add:to:", 2): return try arithmetic("+", arguments, in: scopes)
    case ("from:subtract:", 2): return try arithmetic("-", arguments, in: scopes)
    case ("multiply:by:", 2): return try arithmetic("*", arguments, in: scopes)
    case ("divide:by:", 2): return try arithmetic("/", arguments, in: scopes)
    case ("abs:", 1):
      let (value, kind) = try number(arguments[0], in: scopes)
      return .value("abs(\(value))", kind)
    default:
      throw TranslationError(
        text, "SQL can't express the function \(expression.function) as the framework evaluates it."
      )
    }
  }

  private func arithmetic(
    _ sign: String, _ arguments: [NSExpression], in scopes: [PredicateScope]
  ) throws -> PredicateOperand {
    let (left, leftKind) = try number(arguments[0], in: scopes)
    let (right, rightKind) = try number(arguments[1], in: scopes)
    var kind = ValueKind.real
    switch (leftKind, rightKind) {
    case (.integer, .integer): kind = .integer
    case (.decimal, .decimal), (.decimal, .integer), (.integer, .decimal):
      kind = sign == "/" ? .real : .decimal
    default: break
    }
    // Integers divide as integers, and a division by 0 is nil.
    let divisor: SQLText = sign == "/" ? "NULLIF(\(right), 0)" : right
    if case .integer = kind, sign == "/" { return .value("div(\(left), \(divisor))", kind) }
    guard case .real = kind else { return .value("(\(left) \(raw: sign) \(divisor))", kind) }
    return .value(numeric("(\(left))::double precision \(raw: sign) \(divisor)"), kind)
  }

  /// Returns nil instead of what isn't a number, such as the difference of two infinite ones.
  private func numeric(_ double: SQLText) -> SQLText {
    "NULLIF(\(double), 'NaN'::double precision)"
  }

  /// Returns an expression that is a number; an integer as a `numeric`, whose results can't be out
  /// of range.
  private func number(
    _ expression: NSExpression, in scopes: [PredicateScope]
  ) throws -> (SQLText, ValueKind) {
    let (text, kind) = try value(
      try operand(expression, in: scopes), expression.description, scopes)
    guard kind.family == .number else {
      throw TranslationError(expression.description, "This isn't a number.")
    }
    if case .boolean = kind { return ("(\(text))::integer::numeric", .integer) }
    if case .integer = kind { return ("(\(text))::numeric", .integer) }
    return (text, kind)
  }

  /// Returns an operand as a single value.
  func value(
    _ operand: PredicateOperand, _ piece: String, _ scopes: [PredicateScope]
  ) throws -> (SQLText, ValueKind) {
    switch operand {
    case .value(let text, let kind): return (text, kind)
    case .constant(let value?):
      let kind = try Self.kind(of: value, piece)
      return ("\(bind: try Self.parameter(value, kind, piece))", kind)
    case .toMany(let path) where path.rest.first?.hasPrefix("@") == true:
      return try value(try aggregate(path, in: scopes), piece, scopes)
    default: throw TranslationError(piece, "This isn't a single value.")
    }
  }

  // MARK: Functions of many values

  /// Returns the value of an operator on a to-many: `moods.@count`, `moods.@max.rating`.
  func aggregate(_ path: ToManyPath, in scopes: [PredicateScope]) throws -> PredicateOperand {
    guard let name = path.rest.first?.dropFirst() else {
      throw TranslationError(
        path.text, "A path through a to-many relationship needs ANY, ALL, or @count.")
    }
    let keys = path.rest.dropFirst()
    if name == "count" {
      guard keys.isEmpty else { throw TranslationError(path.text, "Nothing can follow @count.") }
      return .value(try counted(path, in: scopes), .integer)
    }
    let functions = ["sum": "sum", "min": "min", "max": "max", "avg": "avg"]
    guard let function = functions[String(name)] else {
      throw TranslationError(path.text, "SQL can't express @\(name), which returns a list.")
    }
    var kind = ValueKind.real
    let found = try subselect(
      path, in: scopes,
      list: { position, inner in
        let operand = try self.walk(
          keys, from: position, in: inner[inner.count - 1], text: path.text)
        guard case .value(let column, let element) = operand else {
          throw TranslationError(path.text, "@\(name) takes a path to an attribute.")
        }
        kind = element
        if function == "min" || function == "max" {
          return SQLText(raw: function) + "(" + self.orderable(column, element) + ")"
        }
        guard element.family == .number else {
          throw TranslationError(path.text, "@\(name) takes a number.")
        }
        // The sum of no values is 0, and a nil counts as 0 in an average. The server's avg fails if
        // the square of a value is out of range.
        kind = .real
        let number: SQLText = "(\(self.orderable(column, element)))::double precision"
        return self.numeric(
          function == "sum"
            ? "coalesce(sum(\(number)), 0)"
            : "coalesce(sum(\(number)) / NULLIF(count(*), 0), 0)")
      })
    if case .boolean = kind { kind = .integer }
    let hasValueOfNothing = function == "sum" || function == "avg"
    return .value(hasValueOfNothing ? ifPresent(found, path) : found, kind)
  }

  private func orderable(_ column: SQLText, _ kind: ValueKind) -> SQLText {
    if case .boolean = kind { "(\(column))::integer" } else { column }
  }

  /// Returns the number of objects at the end of a path.
  private func counted(_ path: ToManyPath, in scopes: [PredicateScope]) throws -> SQLText {
    ifPresent(try subselect(path, in: scopes, list: { _, _ in "count(*)" }), path)
  }

  /// Returns a value at the end of a path of to-ones: nil if one of them is nil.
  private func ifPresent(_ value: SQLText, _ path: ToManyPath) -> SQLText {
    guard path.source.alias == nil, path.source.key != path.scope.start.key else { return value }
    return "CASE WHEN \(raw: path.source.key) IS NOT NULL THEN \(value) END"
  }

  private func aggregate(
    _ name: String, _ argument: NSExpression, in scopes: [PredicateScope], _ text: String
  ) throws -> PredicateOperand {
    if aggregatesRows, scopes.count == 1 {
      return try rowAggregate(name == "average" ? "avg" : name, argument, text: text)
    }
    guard name == "count", case .toMany(let path) = try operand(argument, in: scopes),
      path.rest.isEmpty
    else {
      throw TranslationError(
        text, "In a predicate, use the operators after a to-many: \(argument).@count, .@sum, .@max."
      )
    }
    return .value(try counted(path, in: scopes), .integer)
  }

  /// Returns a function over the rows of the result or of a group.
  func rowAggregate(
    _ name: String, _ argument: NSExpression, text: String
  ) throws -> PredicateOperand {
    (aggregatesRows, hasAggregatedRows) = (false, true)
    defer { aggregatesRows = true }
    let found = try operand(argument, in: [root])
    if case .object(let key, _) = found, name == "count" {
      return .value("count(\(key))", .integer)
    }
    let (value, kind) = try self.value(found, text, [root])
    let operand = orderable(value, kind)
    switch (name, kind) {
    case ("count", _): return .value("count(\(operand))", .integer)
    case ("min", .boolean), ("max", .boolean):
      return .value("\(raw: name)(\(operand))", .integer)
    case ("min", .uuid), ("max", .uuid), ("min", .bytes), ("max", .bytes):
      throw TranslationError(text, "SQL has no \(name) of this type.")
    case ("min", _), ("max", _): return .value("\(raw: name)(\(operand))", kind)
    case ("sum", _), ("avg", _):
      guard kind.family == .number else { throw TranslationError(text, "This isn't a number.") }
      if case .date = kind { throw TranslationError(text, "This isn't a number.") }
      if case .decimal = kind, name == "sum" {
        return .value("coalesce(sum(\(operand)), 0)", .decimal)
      }
      if case .real = kind, name == "avg" {
        let sum: SQLText = "sum((\(operand))::double precision)"
        return .value(numeric("\(sum) / NULLIF(count(\(operand)), 0)"), .real)
      }
      if name == "avg" { return .value("avg(\(operand))::double precision", .real) }
      switch kind {
      case .integer, .boolean: return .value("coalesce(sum(\(operand)), 0)", .integer)
      default:
        return .value(numeric("coalesce(sum((\(operand))::double precision), 0)"), .real)
      }
    default:
      throw TranslationError(text, "SQL can't express @\(name) over the rows.")
    }
  }
}

extension SQLText {
  static func + (first: SQLText, second: SQLText) -> SQLText { "\(first)\(second)" }
}
