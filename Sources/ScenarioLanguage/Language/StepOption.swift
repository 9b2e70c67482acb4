import OpenCoreData
import WorkbenchText

/// One option of a step: its word and its value.
package struct StepOption: Sendable, Hashable {
  package let word: OptionWord
  package let value: OptionValue

  /// Creates an option.
  ///
  /// It's a programmer error to pass a value of another kind than the word's.
  package init(_ word: OptionWord, _ value: OptionValue) {
    precondition(word.kind == value.kind, "`\(word.rawValue)` takes a value of kind \(word.kind)")
    self.word = word
    self.value = value
  }

  /// The value of an option of the kind `number`; nil for the others.
  package var number: StepNumber? {
    if case .number(let number) = value { number } else { nil }
  }
}

/// The value of an option, by the kind of its word.
package enum OptionValue: Sendable, Hashable {
  /// A predicate's format.
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

  /// The value as a shell line contains it.
  package var text: String { texts.joined(separator: ", ") }

  /// The parts of a list as a shell line contains them; of any other value its text alone.
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
    case .assignments(let assignments):
      assignments.map { "\(LineWords.plain($0.key)) \(LineWords.plain($0.value))" }
    case .name(let text), .text(let text): [LineWords.plain(text)]
    }
  }
}

extension Step {
  /// The option of a word; nil when the step doesn't have it.
  package func option(_ word: OptionWord) -> StepOption? {
    options.first { $0.word == word }
  }

  /// The predicate's format of an option; nil when the step doesn't have it.
  ///
  /// Like its siblings below, it takes words of one kind; it's a programmer error to pass another.
  package func format(of word: OptionWord) -> String? {
    if case .predicate(let format)? = value(of: word, .predicate) { format } else { nil }
  }

  /// The sort keys of an option, or the keys of an index.
  package func sortKeys(of word: OptionWord) -> [SortKey]? {
    if case .sortKeys(let keys)? = value(of: word, .sortKeys) { keys } else { nil }
  }

  /// The number of an option; nil also before `resolved(in:)` when it depends on rows.
  package func number(of word: OptionWord) -> Int? {
    if case .number(let number)? = value(of: word, .number) { number.value } else { nil }
  }

  /// The key paths of an option.
  package func keyPaths(of word: OptionWord) -> [String]? {
    if case .keyPaths(let keyPaths)? = value(of: word, .keyPaths) { keyPaths } else { nil }
  }

  /// What dictionaries contain.
  package func columns(of word: OptionWord) -> [FetchColumn]? {
    if case .columns(let columns)? = value(of: word, .columns) { columns } else { nil }
  }

  /// The flag of an option.
  package func flag(of word: OptionWord) -> Bool? {
    if case .flag(let flag)? = value(of: word, .flag) { flag } else { nil }
  }

  /// The word that was chosen for an option.
  package func choice<Choice: RawRepresentable<String>>(of word: OptionWord) -> Choice? {
    if case .choice(let text)? = value(of: word, .choice) { Choice(rawValue: text) } else { nil }
  }

  /// The keys of an option, with the value or result for each.
  package func assignments(of word: OptionWord) -> [Assignment]? {
    if case .assignments(let pairs)? = value(of: word, .assignments) { pairs } else { nil }
  }

  /// The name in an option.
  package func name(of word: OptionWord) -> String? {
    if case .name(let name)? = value(of: word, .name) { name } else { nil }
  }

  /// The text of an option, as it was written.
  package func text(of word: OptionWord) -> String? {
    if case .text(let text)? = value(of: word, .text) { text } else { nil }
  }

  /// The seconds of an option.
  package func seconds(of word: OptionWord) -> Double? {
    if case .seconds(let seconds)? = value(of: word, .seconds) { seconds } else { nil }
  }

  private func value(of word: OptionWord, _ kind: OptionWord.Kind) -> OptionValue? {
    precondition(word.kind == kind, "`\(word.rawValue)` has no value of kind \(kind)")
    return option(word)?.value
  }
}

/// One sort descriptor as it is written: `date-`, `country.name`.
package struct SortKey: Sendable, Hashable, CustomStringConvertible {
  package var keyPath: String
  package var isAscending: Bool

  package init(keyPath: String, isAscending: Bool = true) {
    self.keyPath = keyPath
    self.isAscending = isAscending
  }

  /// Reads `key`, `key+` (the same) or `key-` (descending); nil when no key is left.
  package init?(_ text: String) {
    let isMarked = text.hasSuffix("-") || text.hasSuffix("+")
    let keyPath = isMarked ? String(text.dropLast()) : text
    guard !keyPath.isEmpty else { return nil }
    self.init(keyPath: keyPath, isAscending: !text.hasSuffix("-"))
  }

  package var description: String {
    isAscending ? keyPath : keyPath + "-"
  }
}

/// A property and the value a step gives it: `latitude 1.5`, `country countries`.
package struct Assignment: Sendable, Hashable {
  package var key: String
  /// As written; read by the property's type.
  ///
  /// For a relationship it is the name of a result.
  package var value: String

  package init(key: String, value: String) {
    self.key = key
    self.value = value
  }
}

extension Step {
  /// What `with` gives; empty without it.
  package var assignments: [Assignment] {
    if let assignments = assignments(of: .assignments) { return assignments }
    return []
  }

  /// What `without` takes; empty without it.
  package var removals: [Assignment] {
    if let removals = assignments(of: .removals) { return removals }
    return []
  }
}

/// What a dictionary of a fetch holds, as it is written: `country.name`, `count(date)`.
package struct FetchColumn: Sendable, Hashable, CustomStringConvertible {
  /// A function of the rows of a group.
  package enum Function: String, CaseIterable, Sendable {
    case count
    case sum
    case min
    case max
    case average
  }

  /// Nil for a value as it is.
  package var function: Function?
  package var keyPath: String

  package init(function: Function? = nil, keyPath: String) {
    self.function = function
    self.keyPath = keyPath
  }

  /// Reads a column.
  ///
  /// - Throws: a problem at an unknown function, or at a bracket that is not closed.
  init(_ word: Word) throws(LanguageProblem) {
    guard let opening = word.text.firstIndex(of: "(") else {
      self.init(keyPath: word.text)
      return
    }
    let name = String(word.text[..<opening])
    let functions = Function.allCases.map(\.rawValue)
    guard let function = Function(rawValue: name) else {
      throw LanguageProblem(
        "there's no function `\(name)` of a group", at: word.place(at: 0, length: name.count),
        didYouMean: NearestName.of(name, among: functions),
        nextStep: "write one of: \(functions.joined(separator: ", "))")
    }
    let inner = word.text[word.text.index(after: opening)...]
    guard inner.last == ")", inner.count > 1 else {
      throw LanguageProblem(
        "`\(name)` needs a key path in parentheses", at: word.place,
        nextStep: "write for example `\(name)(date)`")
    }
    self.init(function: function, keyPath: String(inner.dropLast()))
  }

  package var description: String {
    function.map { "\($0.rawValue)(\(keyPath))" } ?? keyPath
  }

  /// The key of the value in the dictionaries: `countDate` for `count(date)`, else the key path.
  package var name: String {
    guard let function else { return keyPath }
    let parts = keyPath.split(separator: ".").map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return function.rawValue + parts.joined()
  }

  /// The type of a function's values; nil for that of the key path.
  var resultType: NSAttributeType? {
    switch function {
    case .count: .integer64AttributeType
    case .average: .doubleAttributeType
    case .sum, .min, .max, nil: nil
    }
  }

  /// What `propertiesToFetch` takes for it.
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
