/// What the JSON file writes as one word among many.
protocol JSONMark {
  /// How a word is made, for the error of one that is not.
  static var form: String { get }
  var word: String { get }
  init?(word: Substring)
}

/// Marks of the JSON file as one text, which takes a fraction of what an object for each would.
struct JSONMarks<Mark: JSONMark>: Codable {
  var marks: [Mark]

  // Whoever adds up what marks say needs no checks.
  private static var most: Int { 500_000 }
  /// Three hours in nanoseconds.
  private static var greatest: Int { 10_000_000_000_000 }

  init(_ marks: [Mark]) {
    self.marks = marks
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    let words = text.split(separator: " ")
    guard words.count <= JSONMarks.most else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "there are more than \(JSONMarks.most) marks, the limit")
    }
    marks = try words.map { word in
      let numbers = word.prefix { $0 != "#" }.split { !$0.isNumber }
      guard numbers.allSatisfy({ Int($0) ?? .max <= JSONMarks.greatest }) else {
        throw DecodingError.dataCorruptedError(
          in: container,
          debugDescription: "a number of `\(word)` is beyond the limit, \(JSONMarks.greatest)")
      }
      guard let mark = Mark(word: word) else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "`\(word)` is no \(Mark.form)")
      }
      return mark
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(marks.map(\.word).joined(separator: " "))
  }
}
