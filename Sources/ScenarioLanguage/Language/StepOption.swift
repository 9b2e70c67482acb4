import ManagedModel
import WorkbenchText

/// An option of a step, with its value.
package struct StepOption: Sendable, Hashable {
  package let word: OptionWord
  package let value: OptionValue

  /// Creates an option.
  ///
  /// It's a programmer error to pass a value whose kind differs from the option's kind.
  package init(_ word: OptionWord, _ value: OptionValue) {
    guard word.kind == value.kind else {
      fatalError("`\(word.rawValue)` takes a value of kind \(word.kind)")
    }
    self.word = word
    self.value = value
  }

  /// The value of an option of kind `number`, or `nil` for other kinds.
  package var number: StepNumber? {
    if case .number(let number) = value { number } else { nil }
  }
}

/// The value of an option.
///
/// There's a case for each `OptionWord.Kind`.
package enum OptionValue: Sendable, Hashable {
  /// A predicate format string.
  case predicate(String)
  case sortKeys([SortKey])
  case number(StepNumber)
  case seconds(Double)
  case keyPaths([String])
  case columns([FetchColumn])
  case flag(Bool)
  case choice(String)
  case assignments([Assignment])
  case name(String)
  case text(String)

  fileprivate var kind: OptionWord.Kind {
    switch self {
    case .predicate: .predicate
    case .sortKeys: .sortKeys
    case .number: .number
    case .seconds: .seconds
    case .keyPaths: .keyPaths
    case .columns: .columns
    case .flag: .flag
    case .choice: .choice
    case .assignments: .assignments
    case .name: .name
    case .text: .text
    }
  }

  /// The value in the syntax of a shell line.
  package var text: String { texts.joined(separator: ", ") }

  /// The elements of a list in the syntax of a shell line, or one element for other values.
  package var texts: [String] {
    switch self {
    case .predicate(let format): [LineWords.quoted(format)]
    case .sortKeys(let keys): keys.map { LineWords.plain($0.description) }
    case .number(let number): [number.text]
    case .seconds(let seconds):
      [seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)]
    case .keyPaths(let keyPaths): keyPaths.map(LineWords.plain)
    case .columns(let columns): columns.map { LineWords.plain($0.description) }
    case .flag(let flag): [flag ? "yes" : "no"]
    case .choice(let word): [word]
    case .assignments(let assignments): assignments.map(\.text)
    case .name(let text), .text(let text): [LineWords.plain(text)]
    }
  }
}

extension Step {
  /// Returns the option for a keyword, or `nil` if the step doesn't have it.
  package func option(_ word: OptionWord) -> StepOption? {
    options.first { $0.word == word }
  }

  /// Returns the predicate format string of an option, or `nil` if the step doesn't have the
  /// option.
  ///
  /// It's a programmer error to pass an option of another kind. The same applies to the methods
  /// below.
  package func format(of word: OptionWord) -> String? {
    if case .predicate(let format)? = value(of: word, .predicate) { format } else { nil }
  }

  /// Returns the sort keys of an option, or the keys of an index.
  package func sortKeys(of word: OptionWord) -> [SortKey]? {
    if case .sortKeys(let keys)? = value(of: word, .sortKeys) { keys } else { nil }
  }

  /// Returns the number of an option.
  ///
  /// The number is `nil` if the step doesn't have the option, or if the value depends on row counts
  /// and the step hasn't been resolved with `resolved(in:)`.
  package func number(of word: OptionWord) -> Int? {
    if case .number(let number)? = value(of: word, .number) { number.value } else { nil }
  }

  /// Returns the key paths of an option.
  package func keyPaths(of word: OptionWord) -> [String]? {
    if case .keyPaths(let keyPaths)? = value(of: word, .keyPaths) { keyPaths } else { nil }
  }

  /// Returns the columns of a fetch's dictionaries.
  package func columns(of word: OptionWord) -> [FetchColumn]? {
    if case .columns(let columns)? = value(of: word, .columns) { columns } else { nil }
  }

  /// Returns the Boolean value of an option.
  package func flag(of word: OptionWord) -> Bool? {
    if case .flag(let flag)? = value(of: word, .flag) { flag } else { nil }
  }

  /// Returns the chosen value of an option.
  package func choice<Choice: RawRepresentable<String>>(of word: OptionWord) -> Choice? {
    if case .choice(let text)? = value(of: word, .choice) { Choice(rawValue: text) } else { nil }
  }

  /// Returns the keys of an option, with the value or the result for each.
  package func assignments(of word: OptionWord) -> [Assignment]? {
    if case .assignments(let pairs)? = value(of: word, .assignments) { pairs } else { nil }
  }

  /// Returns the name in an option.
  package func name(of word: OptionWord) -> String? {
    if case .name(let name)? = value(of: word, .name) { name } else { nil }
  }

  /// Returns the text of an option, as written.
  package func text(of word: OptionWord) -> String? {
    if case .text(let text)? = value(of: word, .text) { text } else { nil }
  }

  /// Returns the seconds of an option.
  package func seconds(of word: OptionWord) -> Double? {
    if case .seconds(let seconds)? = value(of: word, .seconds) { seconds } else { nil }
  }

  private func value(of word: OptionWord, _ kind: OptionWord.Kind) -> OptionValue? {
    guard word.kind == kind else { fatalError("`\(word.rawValue)` has no value of kind \(kind)") }
    return option(word)?.value
  }
}

/// A sort descriptor as written: `date-`, `country.name`, `localized(title)`.
package struct SortKey: Sendable, Hashable, CustomStringConvertible {
  package var keyPath: String
  package var isAscending: Bool
  /// Whether strings are compared with `localizedStandardCompare:`, by bytes otherwise.
  package var isLocalized: Bool

  package init(keyPath: String, isAscending: Bool = true, isLocalized: Bool = false) {
    self.keyPath = keyPath
    self.isAscending = isAscending
    self.isLocalized = isLocalized
  }

  /// Parses `key`, `key+` (also ascending), or `key-` (descending), each with the key alone or in
  /// `localized(key)`.
  ///
  /// Returns `nil` if the key is empty.
  package init?(_ text: String) {
    let isMarked = text.hasSuffix("-") || text.hasSuffix("+")
    let term = isMarked ? text.dropLast() : text[...]
    let isLocalized = term.hasPrefix(SortKey.opening) && term.hasSuffix(")")
    let keyPath = isLocalized ? term.dropFirst(SortKey.opening.count).dropLast() : term
    guard !keyPath.isEmpty else { return nil }
    self.init(
      keyPath: String(keyPath), isAscending: !text.hasSuffix("-"), isLocalized: isLocalized)
  }

  package var description: String {
    let term = isLocalized ? "\(SortKey.opening)\(keyPath))" : keyPath
    return isAscending ? term : term + "-"
  }

  private static let opening = "localized("

  /// Returns a key in the language's form, `date-` for `date desc`, if the word after it is SQL's
  /// `asc` or `desc`; `nil` otherwise.
  static func word(_ key: Word, in order: Word) -> Word? {
    let marks = ["asc": "", "ascending": "", "desc": "-", "descending": "-"]
    guard !order.isQuoted, let mark = marks[order.text.lowercased()] else { return nil }
    let end = order.range.column + order.range.length
    return Word(
      key.text + mark, at: key.range.part(at: 0, length: end - key.range.column),
      isQuoted: key.isQuoted)
  }
}

/// A column of a fetch's dictionaries, such as `country.name` or `count(date)`.
package struct FetchColumn: Sendable, Hashable, CustomStringConvertible {
  /// An aggregate function of the rows of a group.
  package enum Function: String, CaseIterable, Sendable {
    case count
    case sum
    case min
    case max
    case average
  }

  /// The aggregate function, or `nil` for the property's value.
  package var function: Function?
  package var keyPath: String

  package init(function: Function? = nil, keyPath: String) {
    self.function = function
    self.keyPath = keyPath
  }

  /// Parses a column.
  ///
  /// - Throws: A problem if the function is unknown or if the key path in parentheses is missing.
  init(_ word: Word) throws(LanguageProblem) {
    guard let opening = word.text.firstIndex(of: "(") else {
      self.init(keyPath: word.text)
      return
    }
    let name = String(word.text[..<opening])
    let functions = Function.allCases.map(\.rawValue)
    guard let function = Function(rawValue: name) else {
      throw LanguageProblem(
        "unknown function `\(name)`", at: word.range(at: 0, length: name.count),
        didYouMean: NearestName.of(name, among: functions),
        nextStep: "write one of: \(functions.joined(separator: ", "))")
    }
    let inner = word.text[word.text.index(after: opening)...]
    guard inner.last == ")", inner.count > 1 else {
      throw LanguageProblem(
        "`\(name)` needs a key path in parentheses", at: word.range,
        nextStep: "write, for example, `\(name)(date)`")
    }
    self.init(function: function, keyPath: String(inner.dropLast()))
  }

  package var description: String {
    function.map { "\($0.rawValue)(\(keyPath))" } ?? keyPath
  }

  /// The key of the value in the dictionaries, such as `countDate` for `count(date)`.
  ///
  /// Without a function, the key path.
  package var name: String {
    guard let function else { return keyPath }
    let parts = keyPath.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return function.rawValue + parts.joined()
  }

  /// The type of the function's result, or `nil` if it's the type of the key path.
  var resultType: NSAttributeType? {
    switch function {
    case .count: .integer64AttributeType
    case .average: .doubleAttributeType
    case .sum, .min, .max, nil: nil
    }
  }

  /// The element of `propertiesToFetch` for the column.
  package var property: Any {
    guard let function else { return keyPath }
    let description = NSExpressionDescription()
    description.name = name
    description.expression = NSExpression(
      forFunction: "\(function.rawValue):", arguments: [NSExpression(forKeyPath: keyPath)])
    if let resultType { description.expressionResultType = resultType }
    return description
  }
}

/// The number of an option: an expression and, once the row counts are known, its value.
///
/// A constant expression has its value immediately. Otherwise, `resolved(in:)` evaluates the
/// expression before the step runs.
package struct StepNumber: Sendable, Hashable {
  /// The expression as written.
  package let expression: CountExpression
  /// The value, or `nil` if the expression isn't constant and isn't resolved yet.
  package let value: Int?
  /// The valid values.
  private let range: ClosedRange<Int>

  /// Creates a number from an expression, which is evaluated now if it's constant.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - range: The valid values.
  /// - Throws: A `CountExpressionError` if the expression is constant but has no valid integer
  ///   value.
  package init(
    _ expression: CountExpression, in range: ClosedRange<Int>
  ) throws(CountExpressionError) {
    self.expression = expression
    self.range = range
    value =
      expression.isConstant
      ? try StepNumber.value(of: expression, in: CountExpressionScope(), within: range) : nil
  }

  /// Creates a number with a fixed value.
  package init(_ value: Int) {
    expression = CountExpression(value)
    self.value = value
    range = value...value
  }

  private init(_ expression: CountExpression, value: Int, range: ClosedRange<Int>) {
    self.expression = expression
    self.value = value
    self.range = range
  }

  /// Returns the number with its expression evaluated in a scope.
  ///
  /// - Throws: A `CountExpressionError` if the expression has no valid integer value.
  package func resolved(in scope: CountExpressionScope) throws(CountExpressionError) -> StepNumber {
    StepNumber(
      expression, value: try StepNumber.value(of: expression, in: scope, within: range),
      range: range)
  }

  /// The number in the syntax of a shell line.
  package var text: String {
    let words = expression.text.split(whereSeparator: \.isWhitespace).map(String.init)
    let text = words.joined(separator: " ")
    return words.contains(where: LineWords.keywords.contains) ? LineWords.quoted(text) : text
  }

  private static func value(
    of expression: CountExpression, in scope: CountExpressionScope, within range: ClosedRange<Int>
  ) throws(CountExpressionError) -> Int {
    let value = try expression.value(in: scope)
    guard !range.contains(value) else { return value }
    let problem =
      value < range.lowerBound
      ? "is less than \(range.lowerBound)"
      : "exceeds the limit, \(NumberText.grouped(range.upperBound))"
    throw CountExpressionError(
      text: expression.text, message: "its value \(value) \(problem)", range: expression.range)
  }
}

extension StepNumber {
  /// Returns whether two numbers have the same expression, resolved or not.
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
