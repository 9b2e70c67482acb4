/// A scenario's story in two parts: what is told, and what the reader is asked to guess.
struct ReportStory {
  let told: String
  let question: String

  /// Takes the sentences at the end that are questions for the guess.
  init(_ story: String) {
    var sentences = ReportStory.sentences(of: story)
    var asked: [String] = []
    while let last = sentences.last, last.hasSuffix("?") {
      asked.insert(last, at: 0)
      sentences.removeLast()
    }
    told = sentences.joined(separator: " ")
    question =
      asked.isEmpty
      ? "For each variant: how many SELECTs, how many faults, how many of them miss the row cache?"
      : asked.joined(separator: " ")
  }

  private static func sentences(of text: String) -> [String] {
    var sentences: [String] = []
    var current = ""
    for word in text.split(whereSeparator: \.isWhitespace) {
      current += current.isEmpty ? String(word) : " " + word
      if let last = word.last, ".?!".contains(last) {
        sentences.append(current)
        current = ""
      }
    }
    if !current.isEmpty { sentences.append(current) }
    return sentences
  }
}
