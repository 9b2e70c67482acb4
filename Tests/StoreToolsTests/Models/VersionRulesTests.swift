import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import StoreTools

@Suite("Rules for the change between versions")
struct VersionRulesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let rule: String
    let old: String
    let failing: String
    let passing: String
    var testDescription: String { rule }
  }

  private static let country =
    #"<entity name="Country"><relationship name="moods" optional="YES" "#
    + #"toMany="YES" destinationEntity="Mood" inverseName="country"/></entity>"#

  private static func mood(_ content: String) -> String {
    #"<entity name="Mood">\#(content)</entity>"#
  }

  private static func moodBelowBase(_ content: String) -> String {
    #"<entity name="Base">\#(content)</entity><entity name="Mood" parentEntity="Base">"#
      + attribute("code") + "</entity>"
  }

  private static func attribute(_ name: String, _ others: String = #"optional="YES""#) -> String {
    #"<attribute name="\#(name)" attributeType="String" \#(others)/>"#
  }

  private static func index(_ modifier: String = "") -> String {
    #"<entity name="Mood" \#(modifier)>\#(attribute("code"))<fetchIndex name="byCode">"#
      + #"<fetchIndexElement property="code" type="Binary" order="ascending"/></fetchIndex></entity>"#
  }

  private static func transformed(_ name: String, _ transformer: String) -> String {
    #"<attribute name="\#(name)" optional="YES" attributeType="Transformable" "#
      + #"valueTransformerName="\#(transformer)"/>"#
  }

  private static func data(_ others: String) -> String {
    #"<attribute name="data" optional="YES" attributeType="Binary" \#(others)/>"#
  }

  private static func short(_ others: String) -> String {
    mood(attribute("code") + attribute("short", #"optional="YES" \#(others)"#))
  }

  private static let derivation = #"derived="YES" derivationExpression="code""#

  private static func related(_ optional: String) -> String {
    mood(
      #"<relationship name="country" \#(optional) maxCount="1" destinationEntity="Country" "#
        + #"inverseName="moods"/>"#) + country
  }

  private static func unique(_ names: String...) -> String {
    let constraints = names.map {
      #"<uniquenessConstraint><constraint value="\#($0)"/></uniquenessConstraint>"#
    }
    return "<uniquenessConstraints>\(constraints.joined())</uniquenessConstraints>"
  }

  private static func base(_ content: String) -> String {
    #"<entity name="Base">\#(content)</entity><entity name="Mood" parentEntity="Base"/>"#
  }

  static let cases = [
    Case(
      rule: "missing-renaming-identifier", old: mood(attribute("note")),
      failing: mood(attribute("notes")),
      passing: mood(attribute("notes", #"optional="YES" elementID="note""#))),
    Case(
      rule: "required-without-default", old: mood(attribute("code")),
      failing: mood(attribute("code") + attribute("title", "")),
      passing: mood(attribute("code") + attribute("title", #"defaultValueString="x""#))),
    Case(
      rule: "required-without-default", old: mood(attribute("title", #"transient="YES""#)),
      failing: mood(attribute("title", "")),
      passing: mood(attribute("title", #"defaultValueString="x""#))),
    Case(
      rule: "required-without-default",
      old: mood(attribute("title", #"optional="YES" transient="YES""#)),
      failing: mood(attribute("title", "")), passing: mood(attribute("title"))),
    Case(
      rule: "required-without-default", old: mood(attribute("code")),
      failing: moodBelowBase(attribute("title", "")), passing: moodBelowBase(attribute("title"))),
    Case(
      rule: "required-relationship", old: related(#"optional="YES""#), failing: related(""),
      passing: related(#"optional="YES""#) + #"<entity name="Tag"/>"#),
    Case(
      rule: "new-constraint", old: mood(attribute("code")),
      failing: mood(attribute("code") + unique("code")),
      passing: mood(attribute("code") + attribute("title"))),
    Case(
      rule: "new-constraint", old: mood(attribute("code") + unique("code")),
      failing: mood(attribute("code") + attribute("title") + unique("code", "title")),
      passing: mood(attribute("key", #"optional="YES" elementID="code""#) + unique("key"))),
    Case(
      rule: "new-constraint", old: mood(attribute("code")),
      failing: base(attribute("code") + unique("code")), passing: base(attribute("code"))),
    Case(
      rule: "index-without-modifier", old: mood(attribute("code")), failing: index(),
      passing: index(#"versionHashModifier="2""#)),
    Case(
      rule: "derivation-without-modifier", old: short(derivation), failing: short(""),
      passing: short(#"versionHashModifier="2""#)),
    Case(
      rule: "derivation-without-modifier", old: short(""), failing: short(derivation),
      passing: short(derivation + #" versionHashModifier="2""#)),
    Case(
      rule: "transformer-change", old: mood(transformed("color", "Old")),
      failing: mood(transformed("color", "New")),
      passing: mood(transformed("color", "Old") + transformed("paint", "New"))),
    Case(
      rule: "external-storage-change", old: mood(data("")),
      failing: mood(data(#"allowsExternalBinaryDataStorage="YES""#)),
      passing: mood(data("") + attribute("code"))),
    Case(
      rule: "external-storage-change", old: mood(data(#"allowsExternalBinaryDataStorage="YES""#)),
      failing: mood(data("")),
      passing: mood(data(#"allowsExternalBinaryDataStorage="YES""#) + attribute("code"))),
  ]

  @discardableResult
  private func write(_ contents: String, _ name: String) throws -> String {
    let model = folder.file(name)
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try Data("<model>\n\(contents)</model>".utf8)
      .write(to: model.appendingPathComponent("contents"))
    return model.path
  }

  private func findings(_ old: String, _ new: String) throws -> [ModelFinding] {
    try ModelRules.findings(
      in: FoundModel(path: write(new, "New.xcdatamodel"), keepsGoing: true),
      from: FoundModel(path: write(old, "Old.xcdatamodel")))
  }

  @Test("Each rule finds the mistake at its position, and not the correct change", arguments: cases)
  func ruleFindsMistake(in test: Case) throws {
    let names = Set(ModelRules.ruleNames(comparing: true))
      .subtracting(ModelRules.ruleNames(comparing: false))
    let found = try findings(test.old, test.failing).filter { names.contains($0.rule) }
    #expect(found.map(\.rule) == [test.rule])
    #expect(found.first?.error.line == 2 && found.first?.error.column != nil)
    #expect(found.first?.error.file?.hasSuffix("New.xcdatamodel/contents") == true)
    #expect(try findings(test.old, test.passing).filter { names.contains($0.rule) }.isEmpty)
  }

  @Test("A derivation is new only if the attribute had none", arguments: [false, true])
  func messageStatesWhetherADerivationIsNew(isNew: Bool) throws {
    func version(_ derivation: String) -> String {
      Self.mood(
        Self.attribute("code") + Self.attribute("nonempty")
          + Self.attribute("short", #"optional="YES" \#(derivation)"#))
    }
    let old = version(isNew ? "" : #"derived="YES" derivationExpression="nonempty""#)
    let found = try findings(old, version(Self.derivation))
      .first { $0.rule == "derivation-without-modifier" }
    #expect(found?.error.message.contains("don't compute the values") == isNew)
  }

  // MARK: Versions that were edited

  private func folderOfVersions(_ name: String, second: String) throws -> String {
    try write(Self.mood(Self.attribute("code")), "\(name)/Moods.xcdatamodel")
    try write(second, "\(name)/Moods 2.xcdatamodel")
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "Moods 2.xcdatamodel"], format: .xml, options: 0)
    try list.write(to: folder.file("\(name)/.xccurrentversion"))
    return folder.file(name).path
  }

  private func edits(_ path: String, from old: String) throws -> [String] {
    try ModelRules.findings(in: FoundModel(path: path), from: FoundModel(path: old))
      .filter { $0.rule == "edited-version" }.map(\.error.message)
  }

  @Test("A version that differs from the one of the same name in an earlier build was edited")
  func editedVersionsAreFound() throws {
    let shipped = Self.mood(Self.attribute("code") + Self.attribute("title"))
    let old = try folderOfVersions("Old.xcdatamodeld", second: shipped)
    let same = try folderOfVersions("Same.xcdatamodeld", second: shipped)
    #expect(try edits(same, from: old).isEmpty)
    let edited = try folderOfVersions(
      "Edited.xcdatamodeld", second: Self.mood(Self.attribute("title")))
    let found = try edits(edited, from: old)
    #expect(found.count == 1 && found[0].contains("The version Moods 2 was edited"))
    #expect(found.first?.contains("version hashes of Mood differ") == true)
  }

  @Test("A store whose version none of the versions is shows that one was edited")
  func storesShowEdits() throws {
    let shipped = Self.mood(Self.attribute("code") + Self.attribute("title"))
    let versions = try folderOfVersions("Moods.xcdatamodeld", second: shipped)
    let url = folder.file("Moods.sqlite")
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try FoundModel(path: versions).model)
    try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: url))
    #expect(try edits(versions, from: url.path).isEmpty)
    try write(
      Self.mood(Self.attribute("code") + Self.attribute("titles")),
      "Moods.xcdatamodeld/Moods 2.xcdatamodel")
    #expect(try edits(versions, from: url.path).count == 1)
  }
}
