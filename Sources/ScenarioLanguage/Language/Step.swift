package import ProfileEvents
package import WorkbenchText

/// One thing to do: verb, subject, options.
///
/// One step is one `perform` block. Made by `ShellLine` from a line and by `ScenarioReader` from
/// YAML. Two steps are equal when they ask
/// for the same, wherever they were written.
package struct Step: Sendable {
  package var verb: Verb
  /// The entity or the result's name; empty for verbs without a subject.
  package var subject: String
  /// At most one of a word, in the order of `OptionWord`.
  package var options: [StepOption]
  /// The name of the result.
  package var name: String?
  /// The key paths that `touch` reads, or that `walk` goes through.
  package var reads: [String]
  /// The error code the step must fail with.
  package var fails: Int?
  /// What the step alone must have cost.
  package var expect: ExpectBlock?
  /// The call site of every event the step causes.
  package var location: CallSite
  /// Where its words were written.
  package var places: StepPlaces

  package init(
    verb: Verb, subject: String = "", options: [StepOption] = [], name: String? = nil,
    reads: [String] = [], fails: Int? = nil, expect: ExpectBlock? = nil, location: CallSite,
    places: StepPlaces? = nil
  ) {
    self.verb = verb
    self.subject = subject
    self.options = options
    self.name = name
    self.reads = reads
    self.fails = fails
    self.expect = expect
    self.location = location
    self.places =
      places ?? StepPlaces(verb: SourceRange(line: max(1, location.line), column: 1))
    sortOptions()
  }

  /// Adds an option or replaces the one of the same word.
  package mutating func setOption(_ option: StepOption, words: [Word] = []) {
    options.removeAll { $0.word == option.word }
    options.append(option)
    places.options[option.word] = words
    sortOptions()
  }

  /// The step as one shell line; reading it gives an equal step.
  package var text: String {
    var parts = [verb.rawValue]
    if verb.subject != .none {
      parts.append(verb.subject == .text ? subjectText : LineWords.plain(subject))
    }
    // A property of the name of YAML's word would be taken for that word.
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

  /// The name under which `set` and scopes know the step.
  package var label: String? { name ?? (verb == .context ? subject : nil) }

  /// The `result` option; objects when it was not written.
  package var resultKind: ResultKind {
    choice(of: .result) ?? .objects
  }

  /// The key path in front of `.@count`; nil for any other.
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
  /// The fetch without what is expected of it; nil for other steps.
  ///
  /// Findings compare it, and fixes change it.
  package var fetch: Step? {
    guard verb == .fetch else { return nil }
    return Step(
      verb: verb, subject: subject, options: options, name: name, location: location)
  }

  /// Returns the step without an option.
  package func without(_ word: OptionWord) -> Step {
    var step = self
    step.options.removeAll { $0.word == word }
    return step
  }

  /// Returns the step with an option, instead of the one of the same word.
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

  /// Whether both steps do the same, whatever is expected of them.
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

/// Where the parts of a step were written, for the carets of checks that need the model.
package struct StepPlaces: Sendable {
  /// The verb.
  package var verb: SourceRange
  package var subject: SourceRange?
  package var name: SourceRange?
  /// One for each of the step's `reads`.
  package var reads: [SourceRange] = []
  /// The words of each option's value: one a list element, key and value in turn for assignments.
  package var options: [OptionWord: [Word]] = [:]

  package init(verb: SourceRange) {
    self.verb = verb
  }

  /// The place of a word of an option's value; the verb's when the option was not written.
  package func place(of option: OptionWord, at index: Int = 0) -> SourceRange {
    guard let words = options[option], index < words.count else { return verb }
    return words[index].place
  }
}

/// A step as words, before any of them is understood: what a shell line and a YAML map have in common.
package struct StepForm: Sendable {
  /// What follows an option's word.
  package enum Value: Sendable {
    case words([Word])
    case pairs([Pair])
  }

  /// A property's key and the value given to it.
  package struct Pair: Sendable {
    package var key: Word
    package var value: Word

    package init(key: Word, value: Word) {
      self.key = key
      self.value = value
    }
  }

  /// An option: its word and its value.
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
  /// The key paths of `touch`.
  package var reads: [Word]
  /// Options in the order of writing; `as` and `fails` among them.
  package var entries: [Entry]

  package init(verb: Word, subject: Word? = nil, reads: [Word] = [], entries: [Entry] = []) {
    self.verb = verb
    self.subject = subject
    self.reads = reads
    self.entries = entries
  }
}
