package import WorkbenchText

/// A step as words, before any of them is understood: what a shell line and a YAML map have in common.
package struct StepForm: Sendable {
  /// What stands behind an option's word.
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
