package import ProfileEvents
package import WorkbenchText

/// A step of a scenario or a shell line: a verb, a subject, and options.
///
/// A step runs in one `perform` block. `ShellLine` creates steps from lines, and `ScenarioReader`
/// creates them from YAML. Steps are equal if they describe the same work, regardless of where
/// they're written.
package struct Step: Sendable {
  package var verb: Verb
  /// The subject: an entity, a result, a context, or text.
  ///
  /// Empty for verbs without a subject.
  package var subject: String
  /// The options, at most one for each keyword, in the order of `OptionWord`.
  package var options: [StepOption]
  /// The name given with `as`.
  package var name: String?
  /// The key paths that `touch` reads or `walk` follows.
  package var reads: [String]
  /// The code of the error that the step must fail with.
  package var fails: Int?
  /// The expectations for this step.
  package var expect: ExpectBlock?
  /// The call site of every event the step causes.
  package var location: CallSite
  /// The source ranges of the step's words.
  package var ranges: StepRanges

  package init(
    verb: Verb, subject: String = "", options: [StepOption] = [], name: String? = nil,
    reads: [String] = [], location: CallSite, ranges: StepRanges? = nil
  ) {
    self.verb = verb
    self.subject = subject
    self.options = options
    self.name = name
    self.reads = reads
    self.location = location
    self.ranges =
      ranges ?? StepRanges(verb: SourceRange(line: max(1, location.line), column: 1))
    sortOptions()
  }

  /// Adds an option, or replaces the option with the same keyword.
  package mutating func setOption(_ option: StepOption, words: [Word] = []) {
    options.removeAll { $0.word == option.word }
    options.append(option)
    ranges.options[option.word] = words
    sortOptions()
  }

  /// The step as a shell line.
  ///
  /// Parsing the line returns an equal step.
  package var text: String {
    var parts = [verb.rawValue]
    if verb.subject != .none {
      parts.append(verb.subject == .text ? subjectText : LineWords.plain(subject))
    }
    // A first key path that equals YAML's key would be parsed as that key.
    if let first = reads.first, first == verb.pathsKey { parts.append(first) }
    parts += reads.map(LineWords.plain)
    parts += options.map { "\($0.word.rawValue) \($0.value.text)" }
    if let name {
      parts.append("as \(name)")
    }
    if let fails {
      parts.append("fails \(fails)")
    }
    return parts.joined(separator: " ")
  }

  /// The name that other steps and scopes use to refer to the step.
  package var label: String? { name ?? (verb == .context ? subject : nil) }

  /// The value of the `result` option, or `objects` if the step doesn't have it.
  package var resultKind: ResultKind {
    choice(of: .result) ?? .objects
  }

  /// Returns the key path before `.@count`, or `nil` if the key path doesn't end in `.@count`.
  package static func countedPath(_ keyPath: String) -> String? {
    let ending = ".@count"
    return keyPath.hasSuffix(ending) ? String(keyPath.dropLast(ending.count)) : nil
  }

  private var subjectText: String {
    verb == .sql ? LineWords.quoted(subject) : LineWords.plain(subject)
  }

  private mutating func sortOptions() {
    let order = OptionWord.allCases
    options.sort { first, second in
      (order.firstIndex(of: first.word) ?? 0) < (order.firstIndex(of: second.word) ?? 0)
    }
  }
}

extension Step {
  /// The fetch without its expectations, or `nil` for other steps.
  ///
  /// Findings compare fetches, and suggested fixes modify them.
  package var fetch: Step? {
    guard verb == .fetch else { return nil }
    return Step(
      verb: verb, subject: subject, options: options, name: name, location: location,
      ranges: ranges)
  }

  /// Returns the step without an option.
  package func without(_ word: OptionWord) -> Step {
    var step = self
    step.options.removeAll { $0.word == word }
    return step
  }

  /// Returns the step with an option, which replaces an option with the same keyword.
  package func with(_ word: OptionWord, _ value: OptionValue) -> Step {
    var step = self
    step.setOption(StepOption(word, value))
    return step
  }

  /// Returns the fetch with one more relationship to prefetch.
  package func prefetching(_ keyPath: String) -> Step {
    let keyPaths = keyPaths(of: .prefetch) ?? []
    return keyPaths.contains(keyPath) ? self : with(.prefetch, .keyPaths(keyPaths + [keyPath]))
  }

  /// Returns whether both steps do the same work, regardless of their expectations.
  package func isSame(as other: Step) -> Bool {
    var step = self
    step.expect = other.expect
    return step == other
  }
}

extension Step: Equatable {
  package static func == (first: Step, second: Step) -> Bool {
    first.verb == second.verb && first.subject == second.subject
      && first.options == second.options && first.name == second.name
      && first.reads == second.reads && first.fails == second.fails
      && first.expect == second.expect
  }
}

/// The source ranges of a step's words, for errors of checks that need the model.
package struct StepRanges: Sendable {
  /// The source range of the verb.
  package var verb: SourceRange
  package var subject: SourceRange?
  package var name: SourceRange?
  /// The source ranges of the step's `reads`.
  package var reads: [SourceRange] = []
  /// The words of each option's value: one for each list element, or alternating keys and values
  /// for assignments.
  package var options: [OptionWord: [Word]] = [:]

  package init(verb: SourceRange) {
    self.verb = verb
  }

  /// Returns the source range of a word in an option's value, or of the verb if the option isn't
  /// written.
  package func range(of option: OptionWord, at index: Int = 0) -> SourceRange {
    guard let words = options[option], index < words.count else { return verb }
    return words[index].range
  }
}

/// The uninterpreted words of a step, common to shell lines and YAML maps.
package struct StepForm: Sendable {
  /// The value of an option.
  package enum Value: Sendable {
    case words([Word])
    case pairs([Pair])
  }

  /// A property's key and its value.
  package struct Pair: Sendable {
    package var key: Word
    package var value: Word
    /// Whether the value is an expression: after `=`, or in YAML, under `expression`.
    package var isExpression: Bool

    package init(key: Word, value: Word, isExpression: Bool = false) {
      self.key = key
      self.value = value
      self.isExpression = isExpression
    }
  }

  /// An option's keyword and its value.
  package struct Entry: Sendable {
    package var key: Word
    package var value: Value

    package init(key: Word, value: Value) {
      self.key = key
      self.value = value
    }
  }

  package var verb: Word
  package var subject: Word?
  /// The key paths of `touch` or `walk`.
  package var reads: [Word]
  /// The options in source order, including `as` and `fails`.
  package var entries: [Entry]

  package init(verb: Word, subject: Word? = nil, reads: [Word] = [], entries: [Entry] = []) {
    self.verb = verb
    self.subject = subject
    self.reads = reads
    self.entries = entries
  }

  /// Returns the form with each of its words replaced.
  func mapWords(_ transform: (Word) -> Word) -> StepForm {
    StepForm(
      verb: transform(verb), subject: subject.map(transform), reads: reads.map(transform),
      entries: entries.map { entry in
        let value: Value =
          switch entry.value {
          case .words(let words): .words(words.map(transform))
          case .pairs(let pairs):
            .pairs(
              pairs.map { pair in
                Pair(
                  key: transform(pair.key), value: transform(pair.value),
                  isExpression: pair.isExpression)
              })
          }
        return Entry(key: transform(entry.key), value: value)
      })
  }
}

extension Step {
  /// Returns the range of a result with a number of objects that `limit` and `offset` select.
  package func part(of count: Int) -> Range<Int> {
    let start = min(number(of: .offset) ?? 0, count)
    // As in a request, 0 means no limit.
    let limit = number(of: .limit) ?? 0
    return start..<(limit == 0 ? count : min(count, start + min(limit, count)))
  }
}
