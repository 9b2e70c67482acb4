extension Verb {
  /// Words that a step must have beside its subject: one of the groups as a whole.
  ///
  /// Empty when nothing must be there.
  package var needs: [[String]] {
    switch self {
    case .touch: [[pathsKey].compactMap(\.self)]
    case .set, .batchUpdate: [[OptionWord.assignments.rawValue]]
    case .relate: [[OptionWord.assignments.rawValue], [OptionWord.removals.rawValue]]
    case .index: [[OptionWord.keys.rawValue, "as"], [OptionWord.remove.rawValue]]
    case .pragma: [[OptionWord.to.rawValue]]
    default: []
    }
  }

  /// Words that cannot stand in one step; empty when all can.
  package var clashes: [String] {
    self == .index ? [OptionWord.keys.rawValue, OptionWord.remove.rawValue] : []
  }

  /// What a step with these words lacks, in words; nil when it is complete.
  func missing(from words: Set<String>) -> String? {
    if !clashes.isEmpty, words.isSuperset(of: clashes) {
      return "to make an index or to drop one; these are two steps"
    }
    guard !needs.isEmpty, !needs.contains(where: words.isSuperset) else { return nil }
    switch self {
    case .touch: return "the key paths to read"
    case .relate: return "`with` or `without`, a relationship and a result"
    case .index where words.contains(OptionWord.keys.rawValue):
      return "`as` and a name for the index"
    case .index: return "`keys` and `as` to make one, or `remove` to drop one"
    case .pragma: return "`to` and a value"
    default: return "`with` and the values to set"
    }
  }
}

extension Step {
  /// The words that are written beside verb and subject.
  var words: Set<String> {
    var words = Set(options.map(\.word.rawValue))
    if name != nil { words.insert("as") }
    if !reads.isEmpty, let key = verb.pathsKey { words.insert(key) }
    return words
  }
}
