/// A fetch step in words, so that a finding can say how it should have been written.
///
/// `fetch Mood sort date- values no as moods` is the entity `Mood`, the options `sort date-` and
/// `values no`, and the name `moods`.
package struct FetchText: Sendable, Hashable, CustomStringConvertible {
  /// One option: the language's word and what stands behind it.
  package struct Option: Sendable, Hashable {
    package var word: String
    package var values: [String]

    package init(_ word: String, _ values: [String]) {
      self.word = word
      self.values = values
    }
  }

  package var entity: String
  package var options: [Option]
  package var name: String?

  package init(entity: String, options: [Option] = [], name: String? = nil) {
    self.entity = entity
    self.options = options
    self.name = name
  }

  /// The step as one shell line.
  package var description: String {
    var words = ["fetch", entity]
    for option in options {
      words += [option.word, option.values.joined(separator: ", ")]
    }
    if let name { words += ["as", name] }
    return words.joined(separator: " ")
  }

  /// The first value of an option; nil when the fetch does not have it.
  package func value(of word: String) -> String? {
    options.first { $0.word == word }?.values.first
  }

  /// All values of an option; none when the fetch does not have it.
  package func values(of word: String) -> [String] {
    options.first { $0.word == word }?.values ?? []
  }

  /// The same fetch with one value fewer for an option that takes several.
  package func removing(_ value: String, from word: String) -> FetchText {
    let rest = values(of: word).filter { $0 != value }
    guard !rest.isEmpty else { return without(word) }
    var text = self
    for index in options.indices where options[index].word == word {
      text.options[index].values = rest
    }
    return text
  }

  /// The same fetch without an option.
  package func without(_ word: String) -> FetchText {
    var text = self
    text.options.removeAll { $0.word == word }
    return text
  }

  /// The same fetch with one value more for an option that takes several.
  package func adding(_ value: String, to word: String) -> FetchText {
    var text = self
    if let index = options.firstIndex(where: { $0.word == word }) {
      if !options[index].values.contains(value) { text.options[index].values.append(value) }
    } else {
      text.options.append(Option(word, [value]))
    }
    return text
  }

  /// Whether both fetch the same, whatever the order of their options.
  package func isSame(as other: FetchText) -> Bool {
    entity == other.entity && name == other.name && Set(options) == Set(other.options)
  }
}
