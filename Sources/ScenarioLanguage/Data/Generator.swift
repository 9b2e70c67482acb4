import OpenCoreData
package import WorkbenchText

/// How the values of a property are made: `cycle`, `random`, `every 1 minute`, `text 12`,
/// `one of [draft, sent]`.
package enum Generator: Sendable, Equatable {
  /// One object of the destination after the other, from the first again when they are through.
  case cycle
  /// Any object of the destination, or any value of the type.
  case random
  /// Dates this many seconds apart, from the start of 2016 on.
  case every(seconds: Int)
  /// Words of this many letters.
  case text(Int)
  /// One of these values after the other.
  case oneOf([Word])

  /// How they are written, for errors.
  static let usage = "cycle, random, every 1 minute, text 12, one of [a, b]"

  /// Seconds of each unit that `every` knows.
  static let units = [
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
  ]

  /// Reads a generator from its words.
  ///
  /// - Parameter place: where the value stands, for when there are no words.
  /// - Throws: a problem at the first word that fits no generator.
  init(_ words: [Word], at place: SourcePlace) throws(LanguageProblem) {
    let texts = words.map(\.text)
    switch texts.first {
    case "cycle" where texts.count == 1:
      self = .cycle
    case "random" where texts.count == 1:
      self = .random
    case "every" where texts.count == 3:
      self = .every(seconds: try Generator.seconds(words[1], words[2]))
    case "text" where texts.count == 2:
      guard let length = Int(texts[1]), (1...100_000).contains(length) else {
        throw LanguageProblem(
          "`text` needs a number of letters, not `\(texts[1])`", at: words[1].place,
          nextStep: "write for example `text 12`")
      }
      self = .text(length)
    case "one" where texts.count > 2 && texts[1] == "of":
      self = .oneOf(Array(words.dropFirst(2)))
    default:
      let known = ["cycle", "random", "every", "text", "one"]
      throw LanguageProblem(
        "this is no generator: `\(texts.joined(separator: " "))`", at: words.first?.place ?? place,
        didYouMean: texts.first.flatMap { first in
          known.contains(first) ? nil : NearestName.of(first, among: known)
        },
        nextStep: "write one of: \(Generator.usage)")
    }
  }

  private static func seconds(_ count: Word, _ unit: Word) throws(LanguageProblem) -> Int {
    guard let number = Int(count.text), (1...1_000_000).contains(number) else {
      throw LanguageProblem(
        "`every` needs a number, not `\(count.text)`", at: count.place,
        nextStep: "write for example `every 1 minute`")
    }
    let name = unit.text.hasSuffix("s") ? String(unit.text.dropLast()) : unit.text
    guard let seconds = units[name] else {
      let known = units.keys.sorted()
      throw LanguageProblem(
        "unknown unit `\(unit.text)`", at: unit.place,
        didYouMean: NearestName.of(unit.text, among: known),
        nextStep: "write one of: \(known.joined(separator: ", "))")
    }
    return number * seconds
  }

  package static func == (first: Generator, second: Generator) -> Bool {
    switch (first, second) {
    case (.cycle, .cycle), (.random, .random): true
    case (.every(let one), .every(let other)): one == other
    case (.text(let one), .text(let other)): one == other
    case (.oneOf(let one), .oneOf(let other)): one.map(\.text) == other.map(\.text)
    default: false
    }
  }
}
