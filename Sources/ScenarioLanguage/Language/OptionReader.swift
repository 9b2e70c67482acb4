import ManagedModel
package import WorkbenchText

/// Parses the value of one option according to the option's kind.
package struct OptionReader {
  private let key: Word
  private let value: StepForm.Value

  /// Creates a reader for an option's key and value.
  package init(key: Word, value: StepForm.Value) {
    (self.key, self.value) = (key, value)
  }

  /// Returns the option and the words of its value.
  func option(_ word: OptionWord) throws(LanguageProblem) -> (StepOption, [Word]) {
    let (value, words) = try value(of: word)
    return (StepOption(word, value), words)
  }

  private func value(of word: OptionWord) throws(LanguageProblem) -> (OptionValue, [Word]) {
    switch word.kind {
    case .predicate:
      let format = try single("a predicate")
      return (.predicate(format.text), [format])
    case .sortKeys:
      let words = try list("keys")
      return (.sortKeys(try words.mapWords(sortKey)), words)
    case .keyPaths:
      let words = try list("key paths")
      return (.keyPaths(words.map(\.text)), words)
    case .columns:
      let words = try list("key paths")
      let columns = try words.mapWords { word throws(LanguageProblem) in try FetchColumn(word) }
      return (.columns(columns), words)
    case .number: return (.number(try expression()), try list("a number"))
    case .seconds: return (.seconds(try seconds()), try list("seconds"))
    case .flag: return (.flag(try flag()), try list("yes or no"))
    case .choice:
      let chosen = try chosen(among: word.choices)
      return (.choice(chosen.text), [chosen])
    case .assignments:
      let pairs = try pairs()
      let assignments = pairs.map { pair in
        Assignment(
          key: pair.key.text, value: pair.value.text,
          isNil: !pair.isExpression && AttributeLiteral.isNil(pair.value),
          isExpression: pair.isExpression)
      }
      return (.assignments(assignments), pairs.flatMap { [$0.key, $0.value] })
    case .name:
      let name = try name()
      return (.name(name.text), [name])
    case .text:
      let text = try single("a value")
      return (.text(text.text), [text])
    }
  }

  /// Parses a number written as an expression.
  package func expression() throws(LanguageProblem) -> StepNumber {
    let word = try single("a number")
    // Report `1.5` and `-1` as invalid integers, not as malformed expressions. `Infinity` is a
    // name.
    if word.text.first?.isLetter == false, Double(word.text) != nil { _ = try number() }
    return try number(CountExpression(word))
  }

  private func number(_ expression: CountExpression) throws(LanguageProblem) -> StepNumber {
    do {
      return try StepNumber(
        expression, in: OptionWord(rawValue: key.text)?.numbers ?? 0...InputLimits.value)
    } catch {
      throw LanguageProblem(
        "`\(key.text)` isn't valid: \(error.message)", at: error.range,
        nextStep: "write, for example, `\(example)`")
    }
  }

  /// Parses a nonnegative integer.
  func number() throws(LanguageProblem) -> Int {
    let word = try single("a number")
    guard let number = Int(word.text), number >= 0, !word.text.hasPrefix("+") else {
      throw LanguageProblem(
        "`\(key.text)` needs an integer, not `\(word.text)`", at: word.range,
        nextStep: "write, for example, `\(example)`")
    }
    return number
  }

  /// Parses a number of seconds, which can be negative or have a fraction.
  private func seconds() throws(LanguageProblem) -> Double {
    let word = try single("seconds")
    guard let seconds = Double(word.text), abs(seconds) <= InputLimits.seconds else {
      throw LanguageProblem(
        "`\(key.text)` needs a number of seconds, at most "
          + "\(NumberText.grouped(Int(InputLimits.seconds))), not `\(word.text)`", at: word.range,
        nextStep: "write, for example, `\(example)`")
    }
    return seconds
  }

  /// Parses a name.
  func name() throws(LanguageProblem) -> Word {
    let word = try single("a name")
    guard word.isName else {
      throw LanguageProblem(
        "`\(word.text)` isn't a name", at: word.range,
        nextStep: "use letters, digits, `_`, and `-`, starting with a letter")
    }
    guard !LineWords.keywords.contains(word.text) else {
      throw LanguageProblem(
        "`\(word.text)` is a keyword and can't be a name", at: word.range,
        nextStep: "choose another name")
    }
    return word
  }

  private func flag() throws(LanguageProblem) -> Bool {
    let word = try single("yes or no")
    guard let flag = Flag.value(of: word.text) else {
      throw LanguageProblem(
        "`\(key.text)` needs yes or no, not `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: ["yes", "no"]),
        nextStep: "write, for example, `\(example)`")
    }
    return flag
  }

  /// Parses one of the given choices.
  private func chosen(among choices: [String]) throws(LanguageProblem) -> Word {
    let list = ModelNames.list(choices)
    let word = try single("one of \(list)")
    guard choices.contains(word.text) else {
      throw LanguageProblem(
        "`\(key.text)` can't be `\(word.text)`", at: word.range,
        didYouMean: NearestName.of(word.text, among: choices),
        nextStep: "write one of: \(list)")
    }
    return word
  }

  private func sortKey(_ word: Word) throws(LanguageProblem) -> SortKey {
    guard let key = SortKey(word.text) else {
      throw LanguageProblem(
        "`\(word.text)` doesn't contain a key", at: word.range,
        nextStep: "write, for example, `sort date-`, with `-` for descending")
    }
    return key
  }

  private func pairs() throws(LanguageProblem) -> [StepForm.Pair] {
    guard case .pairs(let pairs) = value, !pairs.isEmpty else {
      throw missing("a key and a value")
    }
    for pair in pairs where pair.isExpression && pair.value.text.allSatisfy(\.isWhitespace) {
      throw OptionReader.missingExpression(for: pair.key, at: pair.value.range)
    }
    return pairs
  }

  /// Returns the problem of a property whose expression is missing.
  static func missingExpression(for key: Word, at range: SourceRange) -> LanguageProblem {
    LanguageProblem(
      "`\(key.text)` needs an expression", at: range,
      nextStep: "write, for example, `\(OptionWord.assignments.example(of: .batchUpdate))`")
  }

  private func single(_ wanted: String) throws(LanguageProblem) -> Word {
    let words = try list(wanted)
    guard words.count == 1 else {
      throw LanguageProblem(
        "`\(key.text)` takes one value", at: words[1].range,
        nextStep: "write, for example, `\(example)`")
    }
    return words[0]
  }

  private func list(_ wanted: String) throws(LanguageProblem) -> [Word] {
    if case .words(let words) = value, !words.isEmpty {
      return words
    }
    throw missing(wanted)
  }

  private func missing(_ wanted: String) -> LanguageProblem {
    LanguageProblem(
      "`\(key.text)` needs \(wanted)", at: key.range, nextStep: "write, for example, `\(example)`")
  }

  private var example: String {
    OptionWord(rawValue: key.text)?.example
      ?? ["as": "as moods", "fails": "fails 133020"][key.text] ?? "\(key.text) 20"
  }
}

extension [Word] {
  /// Returns the transformed elements, as `map` does, but with typed throws.
  fileprivate func mapWords<Value>(
    _ body: (Word) throws(LanguageProblem) -> Value
  ) throws(LanguageProblem) -> [Value] {
    var values = [Value]()
    for word in self {
      values.append(try body(word))
    }
    return values
  }
}
