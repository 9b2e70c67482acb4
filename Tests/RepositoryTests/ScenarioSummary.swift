import Foundation

/// What the index of lessons says of a scenario file.
struct Lesson {
  /// From the root of the repository.
  let path: String
  let name: String
  let chapter: Int?
  /// The sentence of the story that asks the reader to guess; empty when there is none.
  let question: String

  init(path: String) throws {
    let lines = try Repository.lines(of: path)
    func value(of key: String) -> String? {
      lines.first { $0.hasPrefix("\(key):") }.map { line in
        let value = line.dropFirst(key.count + 1).prefix { $0 != "#" }
        return value.trimmingCharacters(in: .whitespaces)
      }
    }
    self.path = path
    name = value(of: "name") ?? ""
    chapter = value(of: "chapter").flatMap(Int.init)
    let story = lines.drop { !$0.hasPrefix("story:") }.dropFirst()
      .prefix { $0.hasPrefix(" ") || $0.isEmpty }
      .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    let sentences = Lesson.sentences(of: story)
    question =
      sentences.first { $0.hasPrefix("Guess") }
      ?? sentences.first { $0.lowercased().contains("guess") } ?? ""
  }

  /// The folder it lies in, below `Scenarios`; empty for the first lessons.
  var folder: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 ? String(parts[1]) : ""
  }

  /// All scenario files, those of the top folder first.
  static func all() throws -> [Lesson] {
    try Repository.files(below: "Scenarios").filter { $0.hasSuffix(".yml") }.map(Lesson.init)
      .sorted { ($0.folder, $0.path) < ($1.folder, $1.path) }
  }

  /// Cut behind `.`, `?` and `!` where a space follows.
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
