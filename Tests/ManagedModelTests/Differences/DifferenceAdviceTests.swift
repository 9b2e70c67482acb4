import Testing

@testable import ManagedModel

@Suite("Advice about differences of models")
struct DifferenceAdviceTests {
  private static func comparison(_ old: String, _ new: String) throws -> ModelComparison {
    let models = try [old, new].map { text in
      try ModelDocument.read(data: Data("<model>\(text)</model>".utf8), file: "Zoo")
    }
    return ModelComparison(from: models[0], to: models[1])
  }

  private static func entity(_ name: String, _ inside: String, _ more: String = "") -> String {
    "<entity name=\"\(name)\" \(more)>\(inside)</entity>"
  }

  private static func attribute(_ type: String, _ more: String = "") -> String {
    "<attribute name=\"x\" optional=\"YES\" attributeType=\"\(type)\" \(more)/>"
  }

  private static func relationship(_ more: String) -> String {
    "<relationship name=\"x\" optional=\"YES\" \(more)/>"
  }

  /// The models before and after, and the beginning of the least change.
  private static let changes: [(String, String, String)] = [
    (
      entity("A", attribute("Integer 64")), entity("A", attribute("Decimal")),
      "Leave the type of x, and add an attribute"
    ),
    (
      entity("A", attribute("Binary", "allowsExternalBinaryDataStorage=\"YES\"")),
      entity("A", attribute("Binary")), "Leave external storage of x on."
    ),
    (
      entity("A", attribute("String")),
      entity("A", relationship("maxCount=\"1\" destinationEntity=\"A\"")),
      "Give the new x another name and no renaming identifier."
    ),
    (
      entity("A", relationship("toMany=\"YES\" destinationEntity=\"A\"")),
      entity("A", relationship("maxCount=\"1\" destinationEntity=\"A\"")),
      "Leave x to-many, and add a to-one relationship"
    ),
    (
      entity("A", relationship("maxCount=\"1\" destinationEntity=\"A\"")) + entity("B", ""),
      entity("A", relationship("maxCount=\"1\" destinationEntity=\"B\"")) + entity("B", ""),
      "Leave the destination of x, and add a relationship"
    ),
    (
      entity("A", "") + entity("B", ""),
      entity("A", "", "parentEntity=\"P\"") + entity("B", "", "parentEntity=\"P\"")
        + entity("P", ""),
      "Leave the parent of A as it was, and declare common properties in each entity."
    ),
  ]

  @Test("A change that isn't lightweight has a least change that is", arguments: changes)
  func leastChangeIsNamed(old: String, new: String, advice: String) throws {
    let differences = try Self.comparison(old, new).differences
    for difference in differences {
      #expect((difference.leastChange != nil) == (difference.effect == .custom))
    }
    let texts = differences.compactMap(\.leastChange)
    #expect(texts.contains { $0.hasPrefix(advice) }, "\(texts)")
  }

  @Test(
    "Only a required to-one relationship without a destination fails a migration",
    arguments: [
      ("maxCount=\"1\"", "Migration fails if rows have no destination"),
      ("toMany=\"YES\" minCount=\"1\"", "It is checked when an object is saved."),
    ])
  func requiredRelationshipsAreExplained(form: String, reason: String) throws {
    let optional = Self.relationship("destinationEntity=\"A\" \(form)")
    let required = optional.replacing("optional=\"YES\"", with: "optional=\"NO\"")
    let changed = try Self.comparison(Self.entity("A", optional), Self.entity("A", required))
    let change = try #require(changed.differences.first { $0.detail == "required now" })
    #expect(change.reason?.hasPrefix(reason) == true, "\(change)")
    let extended = try Self.comparison(Self.entity("A", ""), Self.entity("A", required))
    let added = try #require(extended.differences.first { $0.kind == .added })
    #expect(added.reason?.hasPrefix("Migration fails") == reason.hasPrefix("Migration fails"))
    #expect(added.reason != nil)
  }

  @Test("Removed and added parts of the same kind could be renames")
  func renamesAreSuspected() throws {
    func properties(_ names: String...) -> String {
      names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }.joined()
    }
    let old =
      Self.entity("Mood", properties("note", "place", "date"))
      + Self.entity("Kept", properties("title") + Self.attribute("Date"))
      + Self.entity("Gone", properties("other"))
    let new =
      Self.entity("Feeling", properties("note", "place", "time"))
      + Self.entity("Kept", properties("titles", "caption", "title2") + Self.attribute("Date"))
    let found = try Self.comparison(old, new).suspectedRenames
    #expect(
      found == [
        SuspectedRename(
          entity: nil, removed: "Mood", added: "Feeling", kind: "entity", identifier: "Mood"),
        SuspectedRename(
          entity: "Kept", removed: "title", added: "title2", kind: "String", identifier: "title"),
      ])
  }

  @Test("A rename by identifier, another type, and a transient property aren't suspected")
  func othersAreNotSuspected() throws {
    let old = Self.entity("A", Self.attribute("String"))
    for property in [
      "<attribute name=\"y\" elementID=\"x\" optional=\"YES\" attributeType=\"String\"/>",
      "<attribute name=\"y\" optional=\"YES\" attributeType=\"Date\"/>",
      "<attribute name=\"y\" optional=\"YES\" transient=\"YES\" attributeType=\"String\"/>",
    ] {
      #expect(try Self.comparison(old, Self.entity("A", property)).suspectedRenames == [])
    }
    let renamed = "<attribute name=\"y\" optional=\"YES\" attributeType=\"String\"/>"
    #expect(try Self.comparison(old, Self.entity("A", renamed)).suspectedRenames.count == 1)
  }

  @Test("Of many removed and added properties, the first 500 of each are compared")
  func comparedPropertiesAreLimited() throws {
    func names(_ prefix: String) -> [String] { (1_000..<1_510).map { "\(prefix)\($0)" } }
    func properties(_ names: [String]) -> String {
      names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"Date\"/>" }.joined()
    }
    let (removed, added) = (names("formerValueOfTheRow"), names("n"))
    let found = try Self.comparison(
      Self.entity("A", properties(removed)), Self.entity("A", properties(added))
    ).suspectedRenames
    #expect(Set(found.map(\.removed)) == Set(removed.prefix(500)))
    // None has a similar name, so that each could be any of the first three.
    #expect(found.count == 3 * 500)
    #expect(Set(found.map(\.added)) == Set(added.prefix(3)))
  }
}
