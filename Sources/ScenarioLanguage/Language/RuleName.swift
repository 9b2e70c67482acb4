package import WorkbenchText

/// The IDs of the finding rules in scenarios and reports.
package enum RuleName: String, Sendable, CaseIterable {
  case faultStorm = "fault-storm"
  case ineffectivePrefetch = "ineffective-prefetch"
  case unusedPrefetch = "unused-prefetch"
  case countPerRow = "count-per-row"
  case fetchToCount = "fetch-to-count"
  case fetchLoop = "fetch-loop"
  case partlyRead = "partly-read"
  case batchWalked = "batch-walked"
  case sortedInMemory = "sorted-in-memory"
  case chattySaves = "chatty-saves"
  case needlessUpdate = "needless-update"
  case busyMainQueue = "busy-main-queue"
  case unmergedBatch = "unmerged-batch"
  case lostChanges = "lost-changes"
  case keptAlive = "kept-alive"
  case missingIndex = "missing-index"
  case inferableMapping = "inferable-mapping"
  case severalHops = "several-hops"
  case filledDefault = "filled-default"
  case indexWithoutModifier = "index-without-modifier"
  case deferrableCopy = "deferrable-copy"
  case rewrittenTwice = "rewritten-twice"
}

/// The name of a finding in an expectation, such as `fault-storm(Mood)` or
/// `fault-storm(Mood.country)`.
package struct FindingName: Sendable, Hashable {
  /// The ID of the rule, such as `fault-storm`.
  package let rule: Word
  /// The subject of the finding: an entity or `Entity.relationship`.
  package let subject: Word

  /// Parses a finding's name.
  ///
  /// Doesn't check whether the rule and the subject exist.
  ///
  /// - Throws: A problem if the word doesn't have the form `RULE(SUBJECT)`.
  package init(_ word: Word) throws(LanguageProblem) {
    let characters = Array(word.text)
    guard let opening = characters.firstIndex(of: "("), opening > 0, characters.last == ")",
      opening + 2 < characters.count
    else {
      throw LanguageProblem(
        "a finding has the form `RULE(SUBJECT)`", at: word.range,
        nextStep: "write, for example, `fault-storm(Mood)`")
    }
    rule = Word(
      String(characters[..<opening]), at: word.range(at: 0, length: opening))
    let inner = String(characters[(opening + 1)..<(characters.count - 1)])
    subject = Word(inner, at: word.range(at: opening + 1, length: inner.count))
  }

  package static func == (first: FindingName, second: FindingName) -> Bool {
    first.text == second.text
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(text)
  }

  /// The name as written, without spaces.
  package var text: String { "\(rule.text)(\(subject.text))" }
}
