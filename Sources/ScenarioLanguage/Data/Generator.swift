package import ManagedModel
package import WorkbenchText

/// The generator of a property's values: `cycle`, `cycle 3`, `random`, `every 1 minute`,
/// `text 12`, `bytes 5000`, or `one of [draft, sent]`.
package enum Generator: Sendable, Equatable {
  /// The destination's objects in order, repeated from the first.
  case cycle
  /// This number of the destination's objects, after those of the previous row, repeated from the
  /// first.
  case several(Int)
  /// A random object of the destination, or a random value of the type.
  case random
  /// Dates at an interval in seconds, from the start of 2016.
  case every(seconds: Int)
  /// Random words with this number of letters.
  case text(Int)
  /// Random bytes of this number.
  case bytes(Int)
  /// The given values in order, repeated from the first.
  case oneOf([Word])

  /// The maximum number of `several`.
  package static let mostDestinations = 1_000

  /// The syntax of generators, for errors.
  package static let usage =
    "cycle, cycle 3, random, every 1 minute, text 12, bytes 5000, one of [a, b]"

  /// The number of seconds in each unit of `every`.
  package static let units = [
    "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
  ]

  /// Parses a generator.
  ///
  /// - Parameters:
  ///   - words: The words of the generator.
  ///   - range: The source range of the value, used if there are no words.
  /// - Throws: A problem at the first invalid word.
  package init(_ words: [Word], at range: SourceRange) throws(LanguageProblem) {
    let texts = words.map(\.text)
    switch texts.first {
    case "cycle" where texts.count == 1:
      self = .cycle
    case "cycle" where texts.count == 2:
      self = .several(try Generator.number(words, of: "destinations", upTo: Self.mostDestinations))
    case "random" where texts.count == 1:
      self = .random
    case "every" where texts.count == 3:
      self = .every(seconds: try Generator.seconds(words[1], words[2]))
    case "text" where texts.count == 2:
      self = .text(try Generator.number(words, of: "letters", upTo: 100_000))
    case "bytes" where texts.count == 2:
      self = .bytes(try Generator.number(words, of: "bytes", upTo: 1_000_000))
    case "one" where texts.count > 2 && texts[1] == "of":
      self = .oneOf(Array(words.dropFirst(2)))
    default:
      let known = ["cycle", "random", "every", "text", "bytes", "one"]
      throw LanguageProblem(
        "unknown generator `\(texts.joined(separator: " "))`",
        at: words.first?.range ?? range,
        didYouMean: texts.first.flatMap { first in
          known.contains(first) ? nil : NearestName.of(first, among: known)
        },
        nextStep: "write one of: \(Generator.usage)")
    }
  }

  /// Returns the number after the first word of a generator.
  private static func number(
    _ words: [Word], of things: String, upTo greatest: Int
  ) throws(LanguageProblem) -> Int {
    guard let number = Int(words[1].text), (1...greatest).contains(number) else {
      throw LanguageProblem(
        "`\(words[0].text)` needs a number of \(things) from 1 to "
          + "\(NumberText.grouped(greatest)), not `\(words[1].text)`",
        at: words[1].range, nextStep: "write, for example, `\(words[0].text) 12`")
    }
    return number
  }

  private static func seconds(_ count: Word, _ unit: Word) throws(LanguageProblem) -> Int {
    guard let number = Int(count.text), (1...1_000_000).contains(number) else {
      throw LanguageProblem(
        "`every` needs a number from 1 to 1,000,000, not `\(count.text)`", at: count.range,
        nextStep: "write, for example, `every 1 minute`")
    }
    let name = unit.text.hasSuffix("s") ? String(unit.text.dropLast()) : unit.text
    guard let seconds = units[name] else {
      let known = units.keys.sorted()
      throw LanguageProblem(
        "unknown unit `\(unit.text)`", at: unit.range,
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
    case (.several(let one), .several(let other)): one == other
    case (.bytes(let one), .bytes(let other)): one == other
    case (.oneOf(let one), .oneOf(let other)):
      one.elementsEqual(other) {
        $0.text == $1.text && AttributeLiteral.isNil($0) == AttributeLiteral.isNil($1)
      }
    default: false
    }
  }
}

/// Checks a generator against the property that it's for.
package struct GeneratorCheck {
  private let property: NSPropertyDescription
  private let entry: Word

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - property: The property.
  ///   - entry: The word that names it.
  package init(property: NSPropertyDescription, entry: Word) {
    self.property = property
    self.entry = entry
  }

  /// Checks a generator.
  ///
  /// - Throws: A problem at the generator, or at the key if the property can't have a generator.
  package func check(_ generator: Generator, at range: SourceRange) throws(LanguageProblem) {
    if let relationship = property as? NSRelationshipDescription {
      try check(generator, relationship, at: range)
    } else if let attribute = property as? NSAttributeDescription {
      try check(generator, attribute, at: range)
    }
  }

  private func check(
    _ generator: Generator, _ relationship: NSRelationshipDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    guard !relationship.isManyToMany else {
      if case .several = generator { return }
      throw LanguageProblem(
        "`\(entry.text)` is a many-to-many relationship", at: range,
        nextStep: "write, for example, `cycle 3` for three destinations of each object")
    }
    guard !relationship.isToMany else {
      throw LanguageProblem(
        "`\(entry.text)` is a to-many relationship", at: entry.range,
        didYouMean: relationship.inverseRelationship.map {
          "\(relationship.destinationEntity?.name ?? "").\($0.name)"
        },
        nextStep: "specify a generator for its to-one inverse")
    }
    guard generator == .cycle || generator == .random else {
      throw LanguageProblem(
        "`\(entry.text)` is a relationship", at: range, nextStep: "write `cycle` or `random`")
    }
  }

  private func check(
    _ generator: Generator, _ attribute: NSAttributeDescription, at range: SourceRange
  ) throws(LanguageProblem) {
    let type = attribute.attributeType
    guard !attribute.isDerived, !attribute.isTransient else {
      throw LanguageProblem(
        "`\(entry.text)` is derived or transient, so its value can't be generated",
        at: entry.range, nextStep: "remove it")
    }
    switch generator {
    case .cycle, .several:
      throw LanguageProblem(
        "`cycle` is for relationships, but `\(entry.text)` is an attribute",
        at: range, nextStep: "write `one of [a, b]` to cycle through values")
    case .every where type != .dateAttributeType:
      throw LanguageProblem(
        "`every` generates dates, but `\(entry.text)` is \(AttributeLiteral(type).typePhrase)",
        at: range,
        nextStep: "write `random` or `one of [...]`")
    case .text where type != .stringAttributeType:
      throw LanguageProblem(
        "`text` generates strings, but `\(entry.text)` is \(AttributeLiteral(type).typePhrase)",
        at: range,
        nextStep: "write `random` or `one of [...]`")
    case .bytes where type != .binaryDataAttributeType && type != .transformableAttributeType:
      throw LanguageProblem(
        "`bytes` generates binary data, but `\(entry.text)` is "
          + AttributeLiteral(type).typePhrase,
        at: range,
        nextStep: "write `random` or `one of [...]`")
    case .oneOf(let words):
      let literal = AttributeLiteral(type)
      for word in words where !literal.accepts(word) {
        throw LanguageProblem(
          "`\(word.text)` isn't a valid value for `\(entry.text)` (\(literal.typeName))",
          at: word.range,
          nextStep: "write, for example, `\(literal.example)`")
      }
      if !attribute.isOptional, let word = words.first(where: { AttributeLiteral.isNil($0) }) {
        throw LanguageProblem(
          "`\(entry.text)` is required, so `\(word.text)` isn't one of its values", at: word.range,
          nextStep: "remove `\(word.text)`, or make the attribute optional in the model")
      }
    default: break
    }
  }
}

extension NSRelationshipDescription {
  /// Whether both the relationship and its inverse are to-many.
  var isManyToMany: Bool { isToMany && inverseRelationship?.isToMany == true }

  /// The minimum number of destinations of an object whose to-many relationship isn't empty.
  var leastDestinations: Int { max(minCount, 1) }
}

/// The minimum and the maximum of an attribute's values, from the model.
struct AttributeBounds {
  /// The maximum length of strings, as for `text`.
  private static let longestText = 100_000.0

  private let minimum: Double?
  private let maximum: Double?

  init(_ attribute: NSAttributeDescription) {
    minimum = AttributeBounds.number(attribute.valueRule.minimum)
    maximum = AttributeBounds.number(attribute.valueRule.maximum)
  }

  /// Returns the bounds of serial integers, from 1 unless the model has a minimum or a maximum
  /// below 1.
  func serial(from greatest: Int) -> (least: Int, greatest: Int) {
    let most = whole(maximum, .down) ?? greatest
    return (whole(minimum, .up) ?? (most < 1 ? min(-greatest, most) : 1), min(most, greatest))
  }

  /// Returns the bounds of random integers.
  ///
  /// - Parameters:
  ///   - bound: The number of values if the model has no minimum or no maximum.
  ///   - factor: The number that the model's bounds are multiplied by.
  func random(below bound: Int, times factor: Double = 1) -> (least: Int, greatest: Int) {
    let most = whole(maximum.map { $0 * factor }, .down)
    let least = whole(minimum.map { $0 * factor }, .up)
    guard let most else { return (least ?? 0, max(least ?? 0, bound - 1)) }
    // Below a negative maximum without a minimum, as many values as above 0.
    return (least ?? (most < 0 ? max(most, .min + bound) - bound : 0), most)
  }

  /// The bounds of random fractions.
  ///
  /// Without a minimum and a maximum, 0 and 1.
  var fraction: (least: Double, greatest: Double) {
    let least = minimum ?? maximum.map { $0 < 0 ? $0 - 1 : 0 } ?? 0
    return (least, maximum ?? max(least + 1, 1))
  }

  /// The bounds of dates, in seconds from the start of 2016.
  ///
  /// They span up to a year, which begins in 2016 unless the model's bounds exclude it.
  var seconds: (least: Int, greatest: Int) {
    let year = ValueRecipe.secondsOfAYear - 1
    let limit = Double(InputLimits.value)
    func offset(_ bound: Double) -> Double { min(max(bound - ValueRecipe.epoch, -limit), limit) }
    let low = whole(minimum.map(offset), .up)
    let high = whole(maximum.map(offset), .down)
    let least = max(low ?? 0, 0)
    if let high, high < least { return (max(low ?? high - year, high - year), high) }
    return (least, min(high ?? least + year, least + year))
  }

  /// The length of strings.
  ///
  /// Without a minimum and a maximum, 12 letters.
  var textLength: Int {
    let most = min(12, maximum ?? 12)
    return Int(min(max(minimum ?? 0, most, 0), AttributeBounds.longestText).rounded(.up))
  }

  private static func number(_ text: String?) -> Double? {
    text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
  }

  private func whole(_ bound: Double?, _ rule: FloatingPointRoundingRule) -> Int? {
    bound.flatMap { Int(exactly: $0.rounded(rule)) }
  }
}
