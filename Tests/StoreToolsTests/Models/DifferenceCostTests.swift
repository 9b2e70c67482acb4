import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Costs of differences between models")
struct DifferenceCostTests {
  typealias Cost = LightweightMigrationCosts.Cost

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let old: String
    let new: String
    /// The path of each difference, its cost, and the first words of its statements.
    let expected: [String]
  }

  private static let code = #"<attribute name="code" optional="YES" attributeType="String"/>"#
  private static let rating =
    #"<attribute name="rating" optional="YES" attributeType="Integer 16"/>"#

  /// - Parameter rest: Other attributes of the element.
  private static func entity(
    _ content: String, _ name: String = "Mood", _ rest: String = ""
  ) -> String {
    #"<entity name="\#(name)" \#(rest)>\#(content)</entity>"#
  }

  private static func subentity(_ content: String) -> String {
    entity(content, "Sad", #"parentEntity="Mood""#)
  }

  private static func relationship(
    _ name: String, to destination: String, inverse: String, _ rest: String = #"toMany="YES""#
  ) -> String {
    #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(destination)" "#
      + #"inverseName="\#(inverse)" inverseEntity="\#(destination)" \#(rest)/>"#
  }

  private static let indexed = entity(
    code
      + #"<fetchIndex name="byCode"><fetchIndexElement property="code" type="Binary" order="#
      + #""ascending"/></fetchIndex>"#, "Zoo")

  private static let toOne = relationship(
    "folder", to: "Folder", inverse: "notes", #"maxCount="1""#)
  private static let toMany = relationship(
    "folders", to: "Folder", inverse: "notes", #"elementID="folder" toMany="YES""#)

  private static let oneToMany =
    entity(relationship("notes", to: "Note", inverse: "folder"), "Folder")
    + entity(code + toOne, "Note")

  private static let manyToMany =
    entity(relationship("notes", to: "Note", inverse: "folders"), "Folder")
    + entity(toMany, "Note")

  /// The statements of the relationship of `oneToMany` that becomes that of `manyToMany`.
  private static let pairs =
    "Folder.notes: save the pairs of keys, Folder.notes: save the pairs of keys, "
    + "Note: rename the old table, Note: create the table, Note: copy the rows, "
    + "Folder.notes: create the join table, Folder.notes: insert the pairs, "
    + "Note: drop the old table, create the index Z_1NOTES_Z_2NOTES_INDEX"

  static let cases = [
    Case(
      testDescription: "an optional attribute added", old: entity(code), new: entity(code + rating),
      expected: ["Mood.rating: schema only: Mood: add ZRATING"]),
    Case(
      testDescription: "a default value for all rows", old: entity(code),
      new: entity(
        code + #"<attribute name="rating" attributeType="Integer 16" defaultValueString="3"/>"#),
      expected: [
        "Mood.rating: all rows of the table: Mood: add ZRATING, Mood: set values, "
          + "Mood.rating: check the rows"
      ]),
    Case(
      testDescription: "an attribute made required with a default value", old: entity(rating),
      new: entity(#"<attribute name="rating" attributeType="Integer 16" defaultValueString="3"/>"#),
      expected: [
        "Mood.rating: rows with NULLs: Mood: set values, Mood.rating: check the rows",
        "Mood.rating: nothing: ",
      ]),
    Case(
      testDescription: "an attribute made required without a default value", old: entity(rating),
      new: entity(#"<attribute name="rating" attributeType="Integer 16"/>"#),
      expected: ["Mood.rating: read of all rows: Mood.rating: check the rows"]),
    Case(
      testDescription: "an attribute renamed", old: entity(code),
      new: entity(
        #"<attribute name="key" optional="YES" attributeType="String" elementID="code"/>"#),
      expected: ["Mood.key: schema only: Mood: rename ZCODE to ZKEY"]),
    Case(
      testDescription: "only the removed attribute and the new type cause the copy of the table",
      old: entity(code + rating),
      new: entity(
        #"<attribute name="rating" optional="YES" attributeType="Double"/>"#
          + #"<attribute name="extra" optional="YES" attributeType="String"/>"#),
      expected: [
        "Mood.extra: nothing: ",
        "Mood.rating: all rows twice: Mood: rename the old table, Mood: create the table, "
          + "Mood: copy the rows, Mood: drop the old table",
        "Mood.code: all rows twice: Mood: rename the old table, Mood: create the table, "
          + "Mood: copy the rows, Mood: drop the old table",
      ]),
    Case(
      testDescription: "an index created by the way, and a constraint",
      old: entity(code),
      new: entity(
        code + rating
          + #"<fetchIndex name="byCode"><fetchIndexElement property="code" type="Binary" order="#
          + #""ascending"/></fetchIndex><uniquenessConstraints><uniquenessConstraint>"#
          + #"<constraint value="code"/></uniquenessConstraint></uniquenessConstraints>"#),
      expected: [
        "Mood.byCode: all rows of the table: create the index Z_Mood_byCode",
        "Mood.code: all rows of the table: create the index Z_Mood_UNIQUE_code",
        "Mood.rating: schema only: Mood: add ZRATING",
      ]),
    Case(
      testDescription: "an entity before another one changes its entity ID", old: entity(code),
      new: entity("", "Album") + entity(code),
      expected: [
        "Album: all rows of the table: Album: create the table, Mood: set values, "
          + "negate the entity IDs, Album: set the entity ID, Mood: set the entity ID, "
          + "remove the former entity IDs"
      ]),
    Case(
      testDescription: "an index of a new table has no rows", old: entity(code),
      new: entity(code) + indexed,
      expected: [
        "Zoo: schema only: Zoo: create the table, create the index Z_Zoo_byCode, "
          + "negate the entity IDs, Mood: set the entity ID, Zoo: set the entity ID, "
          + "remove the former entity IDs"
      ]),
    Case(
      testDescription: "a new many-to-many relationship has no pairs",
      old: entity("", "Folder") + entity("", "Note"), new: manyToMany,
      expected: [
        "Folder.notes: schema only: Folder.notes: create the join table, "
          + "create the index Z_1NOTES_Z_2NOTES_INDEX",
        "Note.folders: schema only: create the index Z_1NOTES_Z_2NOTES_INDEX",
      ]),
    Case(
      testDescription: "the pairs of a relationship belong to the difference of its inverse",
      old: oneToMany, new: manyToMany,
      expected: [
        "Note.folders: all rows twice: \(pairs)",
        "Note.folders: all rows twice: \(pairs)",
        "Note.code: all rows twice: Note: rename the old table, Note: create the table, "
          + "Note: copy the rows, Note: drop the old table",
      ]),
    Case(
      testDescription: "a subentity adds its columns to the table", old: entity(code),
      new: entity(code) + subentity(rating),
      expected: [
        "Sad: all rows of the table: Mood: add ZRATING, create the index ZMOOD_Z_ENT_INDEX, "
          + "negate the entity IDs, Mood: set the entity ID, Sad: set the entity ID, "
          + "remove the former entity IDs"
      ]),
    Case(
      testDescription: "the columns of a removed subentity cause the copy of the table",
      old: entity(code) + subentity(rating),
      new: entity(code + #"<attribute name="extra" optional="YES" attributeType="String"/>"#),
      expected: [
        "Mood.extra: nothing: ",
        "Sad: all rows twice: Mood: rename the old table, Mood: create the table, "
          + "Mood: copy the rows, Mood: drop the old table, negate the entity IDs, "
          + "Mood: set the entity ID, remove the former entity IDs",
      ]),
    Case(
      testDescription: "the only subentity, which is removed, needed the index of entity IDs",
      old: entity(code) + subentity(""), new: entity(code),
      expected: [
        "Sad: all rows of the table: drop the index ZMOOD_Z_ENT_INDEX, "
          + "Mood: delete rows of other entities, negate the entity IDs, "
          + "Mood: set the entity ID, remove the former entity IDs"
      ]),
    Case(
      testDescription: "no version hash changes", old: entity(code),
      new: entity(
        #"<attribute name="code" optional="YES" attributeType="String" maxValueString="9"/>"#),
      expected: ["Mood.code: nothing: "]),
    Case(
      testDescription: "a setting that no version hash contains causes no statement",
      old: entity(
        #"<attribute name="code" optional="YES" attributeType="String" elementID="key"/>"#),
      new: entity(code + rating),
      expected: ["Mood.code: nothing: ", "Mood.rating: schema only: Mood: add ZRATING"]),
  ]

  static func model(_ contents: String) throws -> NSManagedObjectModel {
    try ModelDocument.read(data: Data("<model>\(contents)</model>".utf8), file: "test")
  }

  @Test("Each difference has the statements that it causes", arguments: cases)
  func statementsBelongToDifferences(of test: Case) throws {
    let comparison = ModelComparison(from: try Self.model(test.old), to: try Self.model(test.new))
    let costs = try LightweightMigrationCosts(comparison)
    let found = comparison.differences.indices.map { index in
      let names = costs.statements(ofDifferenceAt: index).map { costs.statements[$0].name }
      return "\(comparison.differences[index].path): "
        + "\(costs.cost(ofDifferenceAt: index).rawValue): \(names.joined(separator: ", "))"
    }
    #expect(found == test.expected)
    #expect(costs.statements.allSatisfy { !$0.causes.isEmpty })
  }

  @Test("A default value that reads like SQL doesn't change the table of a statement")
  func defaultValuesAreNotRead() throws {
    let note =
      #"<attribute name="note" attributeType="String" defaultValueString="taken FROM ZTAG now"/>"#
    let comparison = ModelComparison(
      from: try Self.model(Self.entity(Self.code + Self.rating)),
      to: try Self.model(Self.entity(Self.code + note) + Self.entity(Self.code, "Tag")))
    #expect(try LightweightMigrationCosts(comparison).copiedEntities == ["Mood"])
  }

  @Test("An entity that leaves its hierarchy causes its indexes, not the attributes that move")
  func indexesOfAnEntityThatLeavesItsHierarchy() throws {
    let countries = Self.relationship("countries", to: "Country", inverse: "continent")
    let continent = Self.relationship(
      "continent", to: "Continent", inverse: "countries", #"maxCount="1""#)
    let parent = #"parentEntity="Region""#
    let comparison = ModelComparison(
      from: try Self.model(
        Self.entity(Self.code + Self.rating, "Region", #"isAbstract="YES""#)
          + Self.entity(countries, "Continent", parent)
          + Self.entity(continent, "Country", parent)),
      to: try Self.model(
        Self.entity(Self.code + Self.rating + countries, "Continent")
          + Self.entity(Self.code + Self.rating + continent, "Country")))
    #expect(comparison.differences.contains { $0.kind == .moved && $0.path == "Country.code" })
    let costs = try LightweightMigrationCosts(comparison)
    let index = try #require(
      costs.statements.first { $0.name == "create the index ZCOUNTRY_ZCONTINENT_INDEX" })
    let causes = index.causes.map { comparison.differences[$0] }
    #expect(causes.map(\.subject) == [.entity] && causes.map(\.path) == ["Country"])
  }

  @Test("A new type causes that an R-tree of the values is dropped, created, and filled")
  func rangeIndexesBelongToDifferences() throws {
    func rated(_ type: String) throws -> NSManagedObjectModel {
      try Self.model(
        Self.entity(
          #"<attribute name="rating" optional="YES" attributeType="\#(type)"/>"#
            + #"<fetchIndex name="byRating"><fetchIndexElement property="rating" type="RTree" "#
            + #"order="ascending"/></fetchIndex>"#))
    }
    let comparison = ModelComparison(from: try rated("Integer 16"), to: try rated("Double"))
    #expect(comparison.differences.map(\.path) == ["Mood.rating"])
    let statements = try LightweightMigrationCosts(comparison).statements.filter {
      $0.name.hasSuffix("the R-tree Z_RT_Mood_byRating") && !$0.sql.contains(" TRIGGER ")
    }
    #expect(statements.map(\.causes) == [[0], [0], [0]])
  }

  @Test("The causes of statements are found in linear time")
  func causesAreFoundInLinearTime() throws {
    func model(_ attributes: String) throws -> NSManagedObjectModel {
      try Self.model((0..<2_000).map { Self.entity(attributes, "E\($0)") }.joined())
    }
    let comparison = ModelComparison(
      from: try model(Self.code + Self.rating), to: try model(Self.code))
    let begin = threadTime()
    let costs = try LightweightMigrationCosts(comparison)
    #expect(threadTime() - begin < 15)
    #expect(costs.copiedEntities.count == 2_000)
    let causes = comparison.differences.indices.map { costs.statements(ofDifferenceAt: $0) }
    #expect(causes.allSatisfy { $0.count == causes[0].count && !$0.isEmpty })
    #expect(Set(causes.joined()).count == causes.count * causes[0].count)
  }

  @Test("Relationships are compared in linear time")
  func relationshipsAreComparedInLinearTime() throws {
    let models = try (0..<2).map { version in
      try Self.model(
        (0..<8_000).map { number in
          let lists = ["a", "b"].map { name in
            #"<relationship name="\#(name)" optional="YES" toMany="YES" "#
              + #"destinationEntity="E\#((number + 1) % 8_000)"/>"#
          }
          return Self.entity(lists.joined() + (version == 0 ? "" : Self.code), "E\(number)")
        }.joined())
    }
    let begin = threadTime()
    let comparison = ModelComparison(from: models[0], to: models[1])
    #expect(threadTime() - begin < 30)
    #expect(comparison.differences.count == 8_000)
  }

  @Test("The costs of a model with thousands of relationships are found in linear time")
  func relationshipsAreReadInLinearTime() throws {
    let models = try ["", Self.code].map { attributes in
      try Self.model(
        (0..<2_000).map { number in
          let relationships = ["a", "b", "c", "d"].map { name in
            #"<relationship name="\#(name)" optional="YES" maxCount="1" "#
              + #"destinationEntity="E\#((number + 1) % 2_000)"/>"#
          }
          return Self.entity(relationships.joined() + attributes, "E\(number)")
        }.joined())
    }
    let comparison = ModelComparison(from: models[0], to: models[1])
    let begin = threadTime()
    let lines = try DifferenceText.lines(comparison)
    #expect(threadTime() - begin < 30)
    #expect(lines.count { $0.hasSuffix(" ADD COLUMN ZCODE VARCHAR") } == 2_000)
  }

  @Test("The text has the SQL once, and the other causes of it")
  func textHasSQL() throws {
    let test = Self.cases[5]
    let comparison = ModelComparison(from: try Self.model(test.old), to: try Self.model(test.new))
    let text = try DifferenceText.lines(comparison).joined(separator: "\n")
    #expect(text.ranges(of: "DROP TABLE Z_MIGRATION_ZMOOD").count == 1)
    #expect(text.contains("Mood: copy the rows · the statement above, of attribute Mood.rating"))
    #expect(text.ranges(of: "cost: all rows twice").count == 2)
  }

  @Test("A refusal has the property, the reason, and the least change that makes it lightweight")
  func refusalsAreExplained() throws {
    let comparison = ModelComparison(
      from: try Self.model(Self.entity(Self.code)),
      to: try Self.model(
        Self.entity(#"<attribute name="code" optional="YES" attributeType="Date"/>"#)))
    let text = try DifferenceText.lines(comparison)
    #expect(text[0].contains("needs a mapping model"))
    #expect(text.contains { $0.contains("To keep the migration lightweight: Leave the type") })
    let json =
      try JSONSerialization.jsonObject(with: DifferenceText.json(comparison)) as? [String: Any]
    let refused = try #require((json?["refused"] as? [[String: String]])?.first)
    #expect(refused["entity"] == "Mood" && refused["property"] == "code")
    #expect(refused["reason"] != nil && refused["leastChange"] != nil)
    #expect((json?["statements"] as? [Any])?.isEmpty == true)
  }
}
