import WorkbenchText

/// The number of an option: an expression and, once the row counts are known, its value.
///
/// A constant expression has its value immediately. Otherwise, `resolved(in:)` evaluates the
/// expression before the step runs.
package struct StepNumber: Sendable, Hashable {
  /// The expression as written.
  package let expression: CountExpression
  /// The value, or `nil` if the expression isn't constant and isn't resolved yet.
  package let value: Int?
  /// The maximum value.
  private let limit: Int

  /// Creates a number from an expression, which is evaluated now if it's constant.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - limit: The maximum value.
  /// - Throws: A `CountExpressionError` if the expression is constant but has no integer value from
  ///   0 to the limit.
  package init(_ expression: CountExpression, upTo limit: Int) throws(CountExpressionError) {
    self.expression = expression
    self.limit = limit
    value =
      expression.isConstant
      ? try StepNumber.value(of: expression, in: CountExpressionScope(), upTo: limit) : nil
  }

  /// Creates a number with a fixed value.
  package init(_ value: Int) {
    expression = CountExpression(value)
    self.value = value
    limit = value
  }

  private init(_ expression: CountExpression, value: Int, limit: Int) {
    self.expression = expression
    self.value = value
    self.limit = limit
  }

  /// Returns the number with its expression evaluated in a scope.
  ///
  /// - Throws: A `CountExpressionError` if the expression has no integer value from 0 to the limit.
  package func resolved(in scope: CountExpressionScope) throws(CountExpressionError) -> StepNumber {
    StepNumber(
      expression, value: try StepNumber.value(of: expression, in: scope, upTo: limit),
      limit: limit)
  }

  /// The number in the syntax of a shell line.
  package var text: String {
    let words = expression.text.split(whereSeparator: \.isWhitespace).map(String.init)
    let text = words.joined(separator: " ")
    return words.contains(where: LineWords.keywords.contains) ? LineWords.quoted(text) : text
  }

  private static func value(
    of expression: CountExpression, in scope: CountExpressionScope, upTo limit: Int
  ) throws(CountExpressionError) -> Int {
    let value = try expression.value(in: scope)
    guard value >= 0 else {
      throw CountExpressionError(
        text: expression.text, message: "its value \(value) is less than 0",
        range: expression.range)
    }
    guard value <= limit else {
      throw CountExpressionError(
        text: expression.text,
        message: "its value \(value) exceeds the limit, \(NumberText.grouped(limit))",
        range: expression.range)
    }
    return value
  }
}

extension StepNumber {
  /// Returns a Boolean value that indicates whether two numbers have the same expression, resolved
  /// or not.
  package static func == (first: StepNumber, second: StepNumber) -> Bool {
    first.expression == second.expression
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(expression)
  }
}

extension Step {
  /// Returns the step with its numbers resolved.
  ///
  /// - Throws: A `CountExpressionError` for the first number that has no value.
  package func resolved(in scope: CountExpressionScope) throws(CountExpressionError) -> Step {
    var step = self
    for (index, option) in options.enumerated() {
      guard let number = option.number else { continue }
      step.options[index] = StepOption(option.word, .number(try number.resolved(in: scope)))
    }
    return step
  }
}
