import OpenCoreData

/// Reads the value of one option by the option's kind.
struct OptionReader {
  let key: Word
  let value: StepForm.Value

  /// The option, and the words of its value.
  func option(_ word: OptionWord) throws(LanguageProblem) -> (StepOption, [Word]) {
    switch word {
    case .predicate:
      let format = try single("a predicate")
      return (.predicate(format.text), [format])
    case .sort:
      let words = try list("keys")
      return (.sort(try words.mapWords(sortKey)), words)
    case .limit: return (.limit(try number()), try list("a number"))
    case .offset: return (.offset(try number()), try list("a number"))
    case .batch: return (.batch(try number()), try list("a number"))
    case .times: return (.times(try number()), try list("a number"))
    case .prefetch:
      let words = try list("key paths")
      return (.prefetch(words.map(\.text)), words)
    case .values: return (.values(try flag()), try list("yes or no"))
    case .faults: return (.faults(try flag()), try list("yes or no"))
    case .pending: return (.pending(try flag()), try list("yes or no"))
    case .subentities: return (.subentities(try flag()), try list("yes or no"))
    case .keep: return (.keep(try flag()), try list("yes or no"))
    case .result: return (.result(try resultKind()), try list("objects, ids or count"))
    case .assignments:
      let pairs = try pairs()
      let assignments = pairs.map { Assignment(key: $0.key.text, value: $0.value.text) }
      return (.assignments(assignments), pairs.flatMap { [$0.key, $0.value] })
    case .context:
      let word = try name()
      return (.context(word.text), [word])
    case .columns, .group, .having, .distinct:
      throw LanguageProblem(
        "`\(word.rawValue)` is a word of the language that cannot be run yet", at: key.place,
        nextStep: "leave it out, and fetch objects or ids")
    }
  }

  /// A whole number, not negative.
  func number() throws(LanguageProblem) -> Int {
    let word = try single("a number")
    guard let number = Int(word.text), number >= 0, !word.text.hasPrefix("+") else {
      throw LanguageProblem(
        "`\(key.text)` needs a whole number, not `\(word.text)`", at: word.place,
        nextStep: "write for example `\(example)`")
    }
    return number
  }

  /// A name.
  func name() throws(LanguageProblem) -> Word {
    let word = try single("a name")
    guard word.isName else {
      throw LanguageProblem(
        "`\(word.text)` is no name", at: word.place,
        nextStep: "begin with a letter and go on with letters, digits, `_` or `-`")
    }
    guard !LineWords.keywords.contains(word.text) else {
      throw LanguageProblem(
        "`\(word.text)` is a word of the language and cannot be a name", at: word.place,
        nextStep: "choose another name")
    }
    return word
  }

  private func flag() throws(LanguageProblem) -> Bool {
    let word = try single("yes or no")
    guard let flag = Flag.value(of: word.text) else {
      throw LanguageProblem(
        "`\(key.text)` needs yes or no, not `\(word.text)`", at: word.place,
        didYouMean: NearestName.of(word.text, among: ["yes", "no"]),
        nextStep: "write for example `\(example)`")
    }
    return flag
  }

  private func resultKind() throws(LanguageProblem) -> ResultKind {
    let word = try single("objects, ids or count")
    let kinds = ResultKind.allCases.filter(\.isRunnable).map(\.rawValue)
    guard let kind = ResultKind(rawValue: word.text) else {
      throw LanguageProblem(
        "unknown kind of result `\(word.text)`", at: word.place,
        didYouMean: NearestName.of(word.text, among: kinds),
        nextStep: "write one of: \(kinds.joined(separator: ", "))")
    }
    guard kind.isRunnable else {
      throw LanguageProblem(
        "`\(word.text)` is a word of the language that cannot be run yet", at: word.place,
        nextStep: "write one of: \(kinds.joined(separator: ", "))")
    }
    return kind
  }

  private func sortKey(_ word: Word) throws(LanguageProblem) -> SortKey {
    guard let key = SortKey(word.text) else {
      throw LanguageProblem(
        "`\(word.text)` names no key", at: word.place,
        nextStep: "write for example `sort date-`, with `-` for descending")
    }
    return key
  }

  private func pairs() throws(LanguageProblem) -> [StepForm.Pair] {
    if case .pairs(let pairs) = value, !pairs.isEmpty {
      return pairs
    }
    throw missing("a key and a value")
  }

  private func single(_ wanted: String) throws(LanguageProblem) -> Word {
    let words = try list(wanted)
    guard words.count == 1 else {
      throw LanguageProblem(
        "`\(key.text)` takes one value", at: words[1].place,
        nextStep: "write for example `\(example)`")
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
      "`\(key.text)` needs \(wanted)", at: key.place, nextStep: "write for example `\(example)`")
  }

  private var example: String {
    OptionWord(rawValue: key.text)?.example ?? (key.text == "as" ? "as moods" : "\(key.text) 20")
  }
}

extension [Word] {
  /// `map` whose body may throw a problem and nothing else.
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
