import OpenCoreData
import WorkbenchText

/// Holds a generator against the property it is to fill.
struct GeneratorCheck {
  let property: NSPropertyDescription
  let entry: Word

  /// - Throws: a problem at the generator, or at the key when the property cannot be filled at all.
  func check(_ generator: Generator, at place: SourcePlace) throws(LanguageProblem) {
    if let relationship = property as? NSRelationshipDescription {
      try check(generator, relationship, at: place)
    } else if let attribute = property as? NSAttributeDescription {
      try check(generator, attribute, at: place)
    }
  }

  private func check(
    _ generator: Generator, _ relationship: NSRelationshipDescription, at place: SourcePlace
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
    _ generator: Generator, _ attribute: NSAttributeDescription, at place: SourcePlace
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
        "`text` makes texts, and `\(entry.text)` is a \(AttributeLiteral(type).typeName)",
        at: place,
        nextStep: "write `random` or `one of [...]`")
    case .oneOf(let words):
      let literal = AttributeLiteral(type)
      for word in words where !literal.accepts(word.text) {
        throw LanguageProblem(
          "`\(word.text)` is no \(literal.typeName)", at: word.place,
          nextStep: "write for example `\(literal.example)`")
      }
    default: break
    }
  }
}
