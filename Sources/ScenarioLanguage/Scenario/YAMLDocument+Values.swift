import OpenCoreData
import WorkbenchText
internal import Yams

extension YAMLDocument {
  /// The keys of a map; nil when the node is none, which is noted.
  ///
  /// - Parameters:
  ///   - known: the keys there may be; others are noted. Nil for any.
  ///   - what: what the map is, for the error.
  func entries(
    of node: Node, at keyPath: String, known: [String]?, what: String
  ) -> [YAMLEntry]? {
    guard let mapping = node.mapping else {
      report(
        LanguageProblem(
          "\(what) is a map of keys and values", at: place(of: node),
          nextStep: "write `key: value` pairs"
            + (known.map { ": \($0.joined(separator: ", "))" } ?? "")
        ), at: keyPath)
      return nil
    }
    var entries = [YAMLEntry]()
    for (keyNode, value) in mapping {
      guard let key = word(of: keyNode) else {
        report(
          LanguageProblem(
            "a key is a word", at: place(of: keyNode), nextStep: "write `key: value`"), at: keyPath)
        continue
      }
      let path = keyPath.isEmpty ? key.text : "\(keyPath).\(key.text)"
      guard known?.contains(key.text) ?? true else {
        report(
          LanguageProblem(
            "\(what) has no key `\(key.text)`", at: key.place,
            didYouMean: NearestName.of(key.text, among: known ?? []),
            nextStep: "its keys are: \((known ?? []).joined(separator: ", "))"), at: path)
        continue
      }
      entries.append(YAMLEntry(key: key, node: value, keyPath: path))
    }
    return entries
  }

  /// The text of an entry; nil when it is none, which is noted.
  func text(of entry: YAMLEntry, wanted: String = "a text") -> Word? {
    guard let word = word(of: entry.node), !isEmpty(entry.node) else {
      let place = isEmpty(entry.node) ? entry.key.place : place(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs \(wanted)", at: place,
          nextStep: "write `\(entry.key.text): …`"), at: entry.keyPath)
      return nil
    }
    return word
  }

  /// A whole number, not negative; nil when it is none, which is noted.
  func number(of entry: YAMLEntry) -> Int? {
    guard let word = text(of: entry, wanted: "a whole number") else { return nil }
    guard let number = Int(word.text), number >= 0 else {
      report(
        LanguageProblem(
          "`\(entry.key.text)` needs a whole number up to \(Int.max), not `\(word.text)`",
          at: word.place,
          nextStep: "write for example `\(entry.key.text): 7`"), at: entry.keyPath)
      return nil
    }
    return number
  }

  /// The elements of a list with their key paths; a single value counts as a list of one.
  func elements(of entry: YAMLEntry) -> [(node: Node, keyPath: String)] {
    if let sequence = entry.node.sequence {
      return sequence.enumerated().map { ($0.element, "\(entry.keyPath)[\($0.offset)]") }
    }
    return isEmpty(entry.node) ? [] : [(entry.node, entry.keyPath)]
  }

  /// The elements of what must be a list; nil when it is none, which is noted.
  func list(of entry: YAMLEntry, what: String) -> [(node: Node, keyPath: String)]? {
    guard entry.node.sequence != nil else {
      let place = isEmpty(entry.node) ? entry.key.place : place(of: entry.node)
      report(
        LanguageProblem(
          "`\(entry.key.text)` is a list of \(what)", at: place,
          nextStep: "begin each with `- ` on a line of its own, or write [ … ]"), at: entry.keyPath)
      return nil
    }
    return elements(of: entry)
  }

  /// Words of a list or of a single text, where `a, b` in one text is two.
  func words(of entry: YAMLEntry, splitting: Bool) throws(LanguageProblem) -> [Word] {
    var words = [Word]()
    for (node, keyPath) in elements(of: entry) {
      guard let word = word(of: node) else {
        report(
          LanguageProblem(
            "a word is expected here", at: place(of: node),
            nextStep: "write words, no maps or lists"
          ), at: keyPath)
        continue
      }
      guard !word.text.isEmpty else {
        throw LanguageProblem(
          "a word is missing here", at: word.place, nextStep: "write one, or leave the quotes out")
      }
      guard splitting else {
        words.append(word)
        continue
      }
      for token in try LineWords.tokens(of: word.text, startingAt: word.place(at: 0)) {
        if case .word(let part) = token { words.append(part) }
      }
    }
    return words
  }

  /// A source mark; nil when there is none or it is unknown, which is noted.
  func sourceMark(of entry: YAMLEntry) -> SourceMark? {
    guard let word = text(of: entry, wanted: "a source mark") else { return nil }
    if let mark = SourceMark(rawValue: word.text) { return mark }
    let known = SourceMark.allCases.map(\.rawValue)
    report(
      LanguageProblem(
        "unknown source mark `\(word.text)`", at: word.place,
        didYouMean: NearestName.of(word.text, among: known),
        nextStep: "write one of: \(known.joined(separator: ", "))"), at: entry.keyPath)
    return nil
  }
}
