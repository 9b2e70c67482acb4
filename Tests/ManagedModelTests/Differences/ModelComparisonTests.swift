import Testing

@testable import ManagedModel

@Suite struct ModelComparisonTests {
  /// An entity with attributes, a relationship and its inverse, and two subentities.
  static let old = """
    <entity name="Animal"><attribute name="name" optional="YES" attributeType="String"/>
    <attribute name="age" attributeType="Integer 16" defaultValueString="0"/>
    <relationship name="keeper" optional="YES" maxCount="1" destinationEntity="Keeper"
    inverseName="animals"/></entity>
    <entity name="Keeper"><relationship name="animals" optional="YES" toMany="YES"
    destinationEntity="Animal" inverseName="keeper"/></entity>
    <entity name="Lion" parentEntity="Animal"><attribute name="mane" optional="YES"
    attributeType="String"/></entity>
    <entity name="Bear" parentEntity="Animal"/><entity name="Alone"/>
    """

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let edits: [(String, String)]
    let effect: MigrationEffect
    let expected: [String]

    init(
      _ testDescription: String, _ edits: (String, String)..., effect: MigrationEffect,
      _ expected: String...
    ) {
      self.testDescription = testDescription
      self.edits = edits
      self.effect = effect
      self.expected = expected
    }
  }

  static let cases = [
    Case(
      "an attribute added",
      (
        "<entity name=\"Bear\" parentEntity=\"Animal\"/>",
        "<entity name=\"Bear\" parentEntity=\"Animal\"><attribute name=\"fat\" "
          + "optional=\"YES\" attributeType=\"Double\"/></entity>"
      ),
      effect: .lightweight, "added attribute Bear.fat"),
    Case(
      "a required attribute without default",
      (
        "<entity name=\"Alone\"/>",
        "<entity name=\"Alone\"><attribute name=\"x\" attributeType=\"Double\"/></entity>"
      ),
      effect: .lightweight, "added attribute Alone.x"),
    Case(
      "an attribute removed and one renamed",
      ("<attribute name=\"mane\" optional=\"YES\"\nattributeType=\"String\"/>", ""),
      ("name=\"name\" optional", "name=\"title\" elementID=\"name\" optional"),
      effect: .lightweight, "renamed attribute Animal.title from name",
      "removed attribute Lion.mane"),
    Case(
      "a wider number", ("Integer 16", "Integer 64"), effect: .lightweight,
      "changed attribute Animal.age: type from Integer 16 to Integer 64"),
    Case(
      "another type", ("Integer 16", "Decimal"), effect: .custom,
      "changed attribute Animal.age: type from Integer 16 to Decimal"),
    Case(
      "required, with and without default",
      ("name=\"name\" optional=\"YES\"", "name=\"name\""),
      effect: .lightweight, "changed attribute Animal.name: required now"),
    Case(
      "required with a default",
      ("name=\"name\" optional=\"YES\"", "name=\"name\" defaultValueString=\"x\""),
      effect: .lightweight, "changed attribute Animal.name: required now",
      "changed attribute Animal.name: default value from none to x"),
    Case(
      "optional", ("name=\"age\"", "name=\"age\" optional=\"YES\""), effect: .lightweight,
      "changed attribute Animal.age: optional now"),
    Case(
      "another attribute renamed to the name of one that a version in between removed",
      (
        "name=\"age\" attributeType=\"Integer 16\" defaultValueString=\"0\"",
        "name=\"age\" elementID=\"born\" optional=\"YES\" attributeType=\"Date\""
      ),
      effect: .lightweight, "added attribute Animal.age", "removed attribute Animal.age"),
    Case(
      "a former name, with the name of a version in between as the identifier",
      (
        "name=\"age\" attributeType=\"Integer 16\"",
        "name=\"age\" elementID=\"years\" attributeType=\"Integer 32\""
      ),
      effect: .lightweight,
      "changed attribute Animal.age: renaming identifier from age to years",
      "changed attribute Animal.age: type from Integer 16 to Integer 32"),
    Case(
      "an attribute replaced by a relationship of the same name",
      (
        "<attribute name=\"age\" attributeType=\"Integer 16\" defaultValueString=\"0\"/>",
        "<relationship name=\"age\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Alone\"/>"
      ),
      effect: .custom, "changed relationship Animal.age: was an attribute"),
    Case(
      "to many", ("maxCount=\"1\"", "toMany=\"YES\""), effect: .lightweight,
      "changed relationship Animal.keeper: to many now"),
    Case(
      "to one", ("toMany=\"YES\"", "maxCount=\"1\""), effect: .custom,
      "changed relationship Keeper.animals: to one now"),
    Case(
      "an entity renamed and one removed",
      ("entity name=\"Keeper\"", "entity name=\"Guard\" elementID=\"Keeper\""),
      ("destinationEntity=\"Keeper\"", "destinationEntity=\"Guard\""),
      ("<entity name=\"Alone\"/>", ""),
      effect: .lightweight, "renamed entity Guard from Keeper", "removed entity Alone"),
    Case(
      "a property moved up",
      ("<attribute name=\"mane\" optional=\"YES\"\nattributeType=\"String\"/>", ""),
      (
        "<entity name=\"Animal\">",
        "<entity name=\"Animal\"><attribute name=\"mane\" "
          + "optional=\"YES\" attributeType=\"String\"/>"
      ),
      effect: .lightweight, "added attribute Animal.mane"),
    Case(
      "a property moved up with another type",
      ("<attribute name=\"mane\" optional=\"YES\"\nattributeType=\"String\"/>", ""),
      (
        "<entity name=\"Animal\">",
        "<entity name=\"Animal\"><attribute name=\"mane\" "
          + "optional=\"YES\" attributeType=\"Integer 64\"/>"
      ),
      effect: .custom, "added attribute Animal.mane",
      "changed attribute Lion.mane: type from String to Integer 64"),
    Case(
      "a new parent for siblings",
      ("name=\"Bear\" parentEntity=\"Animal\"", "name=\"Bear\" parentEntity=\"Furry\""),
      ("name=\"Lion\" parentEntity=\"Animal\"", "name=\"Lion\" parentEntity=\"Furry\""),
      (
        "<entity name=\"Alone\"/>",
        "<entity name=\"Alone\"/><entity name=\"Furry\" parentEntity=\"Animal\"/>"
      ),
      effect: .lightweight, "changed entity Bear: parent from Animal to Furry",
      "added entity Furry",
      "changed entity Lion: parent from Animal to Furry"),
    Case(
      "a new parent with an attribute",
      ("name=\"Lion\" parentEntity=\"Animal\"", "name=\"Lion\" parentEntity=\"Furry\""),
      (
        "<entity name=\"Alone\"/>",
        "<entity name=\"Alone\"/><entity name=\"Furry\" parentEntity=\"Animal\">"
          + "<attribute name=\"fur\" attributeType=\"String\"/></entity>"
      ),
      effect: .lightweight, "added entity Furry", "added attribute Furry.fur",
      "changed entity Lion: parent from Animal to Furry"),
    Case(
      "an entity without its parent, whose properties it loses",
      ("<entity name=\"Bear\" parentEntity=\"Animal\"/>", "<entity name=\"Bear\"/>"),
      effect: .lightweight, "changed entity Bear: parent from Animal to none",
      "removed attribute Bear.age", "removed relationship Bear.keeper",
      "removed attribute Bear.name"),
    Case(
      "an entity without its parent, with one of its properties",
      (
        "<entity name=\"Bear\" parentEntity=\"Animal\"/>",
        "<entity name=\"Bear\"><attribute name=\"title\" elementID=\"name\" optional=\"YES\" "
          + "attributeType=\"String\"/><attribute name=\"age\" attributeType=\"Integer 16\" "
          + "defaultValueString=\"0\"/></entity>"
      ),
      effect: .lightweight, "changed entity Bear: parent from Animal to none",
      "moved attribute Bear.age from Animal", "moved attribute Bear.title from Animal",
      "renamed attribute Bear.title from name", "removed relationship Bear.keeper"),
    Case(
      "a parent for an entity that had none",
      ("<entity name=\"Alone\"/>", "<entity name=\"Alone\" parentEntity=\"Animal\"/>"),
      effect: .custom, "changed entity Alone: parent from none to Animal"),
    Case(
      "an index without a hash modifier",
      ("defaultValueString=\"0\"", "defaultValueString=\"0\" indexed=\"YES\""),
      effect: .none, "added index Animal.indexed age"),
    Case(
      "an index with a hash modifier",
      (
        "defaultValueString=\"0\"",
        "defaultValueString=\"0\" indexed=\"YES\" versionHashModifier=\"2\""
      ),
      effect: .lightweight, "added index Animal.indexed age",
      "changed attribute Animal.age: hash modifier from none to 2"),
    Case("nothing", effect: .none),
  ]

  static func model(_ inside: String) throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data("<model>\(inside)</model>".utf8), file: "Zoo")
  }

  @Test(arguments: cases)
  func differencesAndMigrationEffectAreReported(_ test: Case) throws {
    var text = Self.old
    for (from, to) in test.edits {
      try #require(text.contains(from), "\(from)")
      text = text.replacingOccurrences(of: from, with: to)
    }
    let (old, new) = (try Self.model(Self.old), try Self.model(text))
    let comparison = ModelComparison(from: old, to: new)
    #expect(Self.lines(comparison) == test.expected)
    #expect(comparison.effect == test.effect)
    #expect((comparison.effect == .none) == (old.digest == new.digest))
    if comparison.effect == .custom {
      #expect(comparison.differences.contains { $0.effect == .custom && $0.reason != nil })
    }
  }

  private static func lines(_ comparison: ModelComparison) -> [String] {
    comparison.differences.map { difference in
      "\(difference.kind.rawValue) \(difference.subject.rawValue) \(difference.path)"
        + (difference.former.map { " from \($0)" } ?? "")
        + (difference.detail.map { ": \($0)" } ?? "")
    }
  }

  private static func attribute(_ settings: String) -> String {
    #"<entity name="A"><attribute name="x" optional="YES" attributeType="String" \#(settings)/>"#
      + "</entity>"
  }

  private static func composite(_ settings: String) -> String {
    #"<entity name="A"><attribute name="at" optional="YES" attributeType="Composite">"#
      + #"<attribute name="x" optional="YES" attributeType="Double" \#(settings)/>"#
      + "</attribute></entity>"
  }

  private static func info(_ value: String) -> String {
    #"<entity name="A"><userInfo><entry key="k" value="\#(value)"/></userInfo></entity>"#
  }

  @Test(
    "A setting that no version hash contains is a difference, too",
    arguments: [
      (
        attribute(#"preserveAfterDeletion="YES""#), attribute(""),
        "attribute A.x: preservation after deletion off"
      ),
      (
        attribute(""), attribute(#"allowsCloudEncryption="YES""#),
        "attribute A.x: cloud encryption on"
      ),
      (
        attribute(""), attribute(#"spotlightIndexingEnabled="YES""#),
        "attribute A.x: Spotlight index on"
      ),
      (
        attribute(#"elementID="y""#), attribute(""),
        "attribute A.x: renaming identifier from y to x"
      ),
      (
        composite(#"defaultValueString="1""#), composite(#"defaultValueString="2""#),
        "attribute A.at: default value of element x from 1.0 to 2.0"
      ),
      (
        composite(#"minValueString="1""#), composite(""),
        "attribute A.at: validation of element x from SELF >= 1 to none"
      ),
      (info("1"), info("2"), #"entity A: user info from ["k": "1"] to ["k": "2"]"#),
      (
        #"<entity name="A" coreSpotlightDisplayNameExpression="x"/>"#, #"<entity name="A"/>"#,
        "entity A: display name in Spotlight from x to none"
      ),
      (
        #"<entity name="A"/><fetchRequest name="q" entity="A"/>"#,
        #"<entity name="A"/><fetchRequest name="q" entity="A" fetchLimit="5"/>"#,
        "fetch request q: from (q: A) to (q: A, at most 5)"
      ),
    ])
  func unhashedSettingsAreCompared(old: String, new: String, difference: String) throws {
    let comparison = ModelComparison(from: try Self.model(old), to: try Self.model(new))
    #expect(Self.lines(comparison) == ["changed \(difference)"])
    #expect(comparison.effect == .none)
  }

  @Test("The reason for a changed derivation is how to require the migration that it needs")
  func changedDerivationsNeedAHashModifier() throws {
    let derived = Self.attribute(#"derived="YES" derivationExpression="lowercase:(y)""#)
    let (old, new) = (try Self.model(derived), try Self.model(Self.attribute("")))
    #expect(
      ModelComparison(from: old, to: new).differences.map { $0.reason } == [
        "Stores compute the values until a migration, which keeps them. To require one, change the hash "
          + "modifier."
      ])
    #expect(
      ModelComparison(from: new, to: old).differences.map { $0.reason } == [
        "A migration recomputes all values. To require one, change the hash modifier."
      ])
  }

  @Test("A destination whose name another entity has now is named with its own new name")
  func destinationWithTheNameOfAnotherIsNamed() throws {
    func model(_ entities: String) throws -> NSManagedObjectModel {
      try Self.model(
        #"<entity name="P"><relationship name="a" optional="YES" maxCount="1" "#
          + #"destinationEntity="A"/></entity>"# + entities)
    }
    let old = try model(#"<entity name="A"/><entity name="B"/>"#)
    func expect(_ entities: String, _ detail: String) throws {
      let lines = Self.lines(ModelComparison(from: old, to: try model(entities)))
      #expect(lines.contains("changed relationship P.a: destination from \(detail)"), "\(lines)")
    }
    try expect(
      #"<entity name="B" elementID="A"/><entity name="A" elementID="B"/>"#, "A (now B) to A")
    try expect(#"<entity name="A" elementID="B"/>"#, "A (removed) to A")
  }

  @Test(
    "A changed destination isn't lightweight for a reason that's true",
    arguments: [
      ("Animal", "Dog", "Stored objects can refer to objects of Animal that aren't of Dog."),
      ("Dog", "Cat", "The stored keys would refer to rows of another entity."),
      ("Dog", "Animal", nil),
    ] as [(String, String, String?)])
  func reasonOfADestinationIsTrue(old: String, new: String, reason: String?) throws {
    let models = try [old, new].map { destination in
      try Self.model(
        #"<entity name="Animal"/><entity name="Dog" parentEntity="Animal"/>"#
          + #"<entity name="Cat" parentEntity="Animal"/><entity name="Owner">"#
          + #"<relationship name="pet" optional="YES" maxCount="1" "#
          + #"destinationEntity="\#(destination)"/></entity>"#)
    }
    let differences = ModelComparison(from: models[0], to: models[1]).differences
    #expect(differences.map { $0.detail } == ["destination from \(old) to \(new)"])
    #expect(differences.map { $0.reason } == [reason])
  }

  @Test("What was renamed before isn't what has its first name now")
  func renamedMembersAreThemselves() throws {
    func model(_ name: String) throws -> NSManagedObjectModel {
      try Self.model(
        #"<entity name="A"><attribute name="x" optional="YES" attributeType="String"/>"#
          + #"<attribute name="\#(name)" elementID="x" optional="YES" attributeType="String"/>"#
          + #"</entity><entity name="B" elementID="A"/>"#)
    }
    let same = ModelComparison(from: try model("y"), to: try model("y"))
    #expect(same.differences == [])
    let renamed = ModelComparison(from: try model("y"), to: try model("z"))
    #expect(Self.lines(renamed) == ["renamed attribute A.z from y"])
  }

  /// Hashes determine whether a store opens, so every change of a hash must be a difference.
  @Test func everyHashChangeIsADifference() throws {
    for seed in 0..<120 as Range<UInt64> {
      let model = RandomModel.make(seed: seed)
      let copy = try #require(model.copy() as? NSManagedObjectModel)
      #expect(ModelComparison(from: model, to: copy).differences == [], "seed \(seed)")
      var random = SeededNumbers(seed: seed)
      let properties = copy.entities.flatMap(\.ownProperties)
      for _ in 0..<2 {
        guard let property = properties.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: property.isOptional.toggle()
        case 1: property.entity?.properties.removeAll { $0 === property }
        case 2: property.versionHashModifier = "changed"
        case 3: (property as? NSRelationshipDescription)?.isOrdered.toggle()
        default: (property as? NSAttributeDescription)?.attributeType = .stringAttributeType
        }
      }
      let comparison = ModelComparison(from: model, to: copy)
      #expect((comparison.effect != .none) == (model.digest != copy.digest), "seed \(seed)")
    }
  }
}
