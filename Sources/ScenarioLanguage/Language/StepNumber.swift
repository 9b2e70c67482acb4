import WorkbenchText

/// The number of an option: an expression, and its value as soon as the rows are known.
///
/// A number without names has its value at once; any other gets it by `resolved(in:)`, before the step
/// runs.
package struct StepNumber: Sendable, Hashable {
  /// What was written.
  package let expression: CountExpression
  /// The number; nil while the rows that the expression names are not known.
  package let value: Int?
  /// The largest value that it may have.
  private let limit: Int

  /// Takes an expression; its value when it needs no rows.
  ///
  /// - Parameter limit: the largest value that it may have.
  /// - Throws: `CountExpressionError` when it needs none and has no value that is whole, not negative, and within the
  ///   limit.
  package init(_ expression: CountExpression, upTo limit: Int) throws(CountExpressionError) {
    self.expression = expression
    self.limit = limit
    value =
      expression.isConstant
      ? try StepNumber.value(of: expression, in: CountExpressionScope(), upTo: limit) : nil
  }

  /// Takes a number as it is.
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

  /// The number with its value among so many rows.
  ///
  /// - Throws: `CountExpressionError` when the value is not whole, is negative, is beyond the limit, or cannot be had.
  package func resolved(in scope: CountExpressionScope) throws(CountExpressionError) -> StepNumber {
    StepNumber(
      expression, value: try StepNumber.value(of: expression, in: scope, upTo: limit),
      limit: limit)
  }

  /// As it is written on a shell line.
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
        text: expression.text, message: "its value \(value) is below 0", place: expression.place)
    }
    guard value <= limit else {
      throw CountExpressionError(
        text: expression.text,
        message: "its value \(value) is above the limit, \(NumberText.grouped(limit))",
        place: expression.place)
    }
    return value
  }
}

extension StepNumber {
  /// Numbers are equal when their expressions are, whether or not the rows are known.
  package static func == (first: StepNumber, second: StepNumber) -> Bool {
    first.expression == second.expression
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(expression)
  }
}

extension Step {
  /// The step with the values of its numbers.
  ///
  /// - Throws: `CountExpressionError` for the first that has none.
  package func resolved(in scope: CountExpressionScope) throws(CountExpressionError) -> Step {
    var step = self
    for (index, option) in options.enumerated() {
      guard let number = option.number else { continue }
      step.options[index] = StepOption(option.word, .number(try number.resolved(in: scope)))
    }
    return step
  }
}
