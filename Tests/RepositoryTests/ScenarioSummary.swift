import Foundation

/// The entry of a scenario file in the index of scenarios.
struct ScenarioSummary {
  /// The path relative to the root folder.
  let path: String
  let name: String
  let chapter: Int?
  /// The sentence of the story that asks the reader to guess; empty if there's none.
  let question: String

  init(path: String) throws {
    let lines = try Repository.lines(of: path)
    func value(of key: String) -> String? {
      lines.first { $0.hasPrefix("\(key):") }.map { line in
        let value = line.dropFirst(key.count + 1).prefix { $0 != "#" }
        return value.trimmingCharacters(in: CharacterSet(charactersIn: " \""))
      }
    }
    self.path = path
    name = value(of: "name") ?? ""
    chapter = value(of: "chapter").flatMap(Int.init)
    let story = lines.drop { !$0.hasPrefix("story:") }.dropFirst()
      .prefix { $0.hasPrefix(" ") || $0.isEmpty }
      .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    let sentences = ScenarioSummary.sentences(of: story)
    question =
      sentences.first { $0.hasPrefix("Guess") }
      ?? sentences.first { $0.lowercased().contains("guess") } ?? ""
  }

  /// The folder in `Scenarios`; empty for scenarios in `Scenarios` itself.
  var folder: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : ""
  }

  /// All scenario files, those in `Scenarios` itself first.
  static func all() throws -> [ScenarioSummary] {
    try Repository.files(below: "Scenarios").filter { $0.hasSuffix(".yml") }
      .map(ScenarioSummary.init).sorted { ($0.folder, $0.path) < ($1.folder, $1.path) }
  }

  /// Splits the text after `.`, `?`, or `!` if a space follows.
  private static func sentences(of text: String) -> [String] {
    text.split(separator: " ").reduce(into: [""]) { sentences, word in
      let last = sentences[sentences.count - 1]
      if let end = last.last, ".?!".contains(end) {
        sentences.append(String(word))
      } else {
        sentences[sentences.count - 1] = last.isEmpty ? String(word) : "\(last) \(word)"
      }
    }
  }
}
