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
  init(_ words: [Word], at place: SourceRange) throws(LanguageProblem) {
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
          nextStep: "write, for example, `text 12`")
      }
      self = .text(length)
    case "one" where texts.count > 2 && texts[1] == "of":
      self = .oneOf(Array(words.dropFirst(2)))
    default:
      let known = ["cycle", "random", "every", "text", "one"]
      throw LanguageProblem(
        "this isn't a generator: `\(texts.joined(separator: " "))`",
        at: words.first?.place ?? place,
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
        nextStep: "write, for example, `every 1 minute`")
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

/// Holds a generator against the property it is to fill.
struct GeneratorCheck {
  let property: NSPropertyDescription
  let entry: Word

  /// - Throws: a problem at the generator, or at the key when the property cannot be filled at all.
  func check(_ generator: Generator, at place: SourceRange) throws(LanguageProblem) {
    if let relationship = property as? NSRelationshipDescription {
      try check(generator, relationship, at: place)
    } else if let attribute = property as? NSAttributeDescription {
      try check(generator, attribute, at: place)
    }
  }

  private func check(
    _ generator: Generator, _ relationship: NSRelationshipDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    guard !relationship.isToMany else {
      throw LanguageProblem(
        "`\(entry.text)` is a to-many relationship", at: entry.place,
        didYouMean: relationship.inverseRelationship.map {
          "\(relationship.destinationEntity?.name ?? "").\($0.name)"
        },
        nextStep: "give the other side's to-one relationship a generator")
    }
    guard generator == .cycle || generator == .random else {
      throw LanguageProblem(
        "`\(entry.text)` is a relationship", at: place, nextStep: "write `cycle` or `random`")
    }
  }

  private func check(
    _ generator: Generator, _ attribute: NSAttributeDescription, at place: SourceRange
  ) throws(LanguageProblem) {
    let type = attribute.attributeType
    guard !attribute.isDerived, !attribute.isTransient else {
      throw LanguageProblem(
        "`\(entry.text)` is not stored as it is set", at: entry.place, nextStep: "leave it out")
    }
    switch generator {
    case .cycle:
      throw LanguageProblem(
        "`cycle` goes round the objects of a relationship, and `\(entry.text)` is an attribute",
        at: place, nextStep: "write `one of [a, b]` to go round values")
    case .every where type != .dateAttributeType:
      throw LanguageProblem(
        "`every` makes dates, and `\(entry.text)` is a \(AttributeLiteral(type).typeName)",
        at: place,
        nextStep: "write `random` or `one of [...]`")
    case .text where type != .stringAttributeType:
      throw LanguageProblem(
        "`text` generates strings, but `\(entry.text)` is a \(AttributeLiteral(type).typeName)",
        at: place,
        nextStep: "write `random` or `one of [...]`")
    case .oneOf(let words):
      let literal = AttributeLiteral(type)
      for word in words where !literal.accepts(word.text) {
        throw LanguageProblem(
          "`\(word.text)` isn't a \(literal.typeName)", at: word.place,
          nextStep: "write, for example, `\(literal.example)`")
      }
    default: break
    }
  }
}

/// The least and the most an attribute's values may be, as its model says.
struct AttributeBounds {
  private let minimum: Double?
  private let maximum: Double?

  init(_ attribute: NSAttributeDescription) {
    minimum = attribute.valueRule.minimum.flatMap(Double.init)
    maximum = attribute.valueRule.maximum.flatMap(Double.init)
  }

  /// The ends of 1, 2, 3 … within the bounds.
  func serial(from greatest: Int) -> (least: Int, greatest: Int) {
    (whole(minimum) ?? 1, min(whole(maximum) ?? greatest, greatest))
  }

  /// The ends of integers within the bounds.
  func random(below bound: Int) -> (least: Int, greatest: Int) {
    let least = whole(minimum) ?? 0
    return (least, whole(maximum) ?? max(least, bound - 1))
  }

  /// The ends of numbers within the bounds, from 0 to 1 without them.
  var fraction: (least: Double, greatest: Double) {
    let least = minimum ?? 0
    return (least, maximum ?? max(least + 1, 1))
  }

  /// The length of a text: 12 letters where nothing else is said.
  var textLength: Int {
    min(max(whole(minimum) ?? 0, 12), whole(maximum) ?? 12)
  }

  private func whole(_ bound: Double?) -> Int? {
    bound.flatMap { Int(exactly: $0.rounded()) }
  }
}
