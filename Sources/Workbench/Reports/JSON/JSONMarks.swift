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

  init(_ marks: [Mark]) {
    self.marks = marks
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    marks = try text.split(separator: " ").map { word in
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
