import Foundation
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import ScenarioLanguage

@Suite("Exported programs escape text of the scenario")
struct ScenarioExportTests {
  private func lines(of steps: String, named name: String = "odd") throws -> [String] {
    let scenario = try ScenarioReader.read(
      text: """
        name: "Odd\\nlet inName = 1"
        model: Moody
        data: {Country: {count: 2}, Mood: {count: 4, country: cycle}}
        steps:
        \(steps)
        variants: [{name: all, why: "One line"}]
        """,
      url: PackagedScenarios.folder.appendingPathComponent("\(name).yml"), path: "\(name).yml")
    return try ScenarioExport(scenario).program.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  @Test func commentsEscapeLineEndings() throws {
    let lines = try lines(
      of: "  - {fetch: Mood, where: \"latitude > 0\\nOR latitude < 9\", as: moods}")
    #expect(!lines.contains { $0.hasPrefix("let inName") || $0.hasPrefix("OR latitude") })
    #expect(lines.contains { $0.hasPrefix("// ") && $0.contains("OR latitude < 9") })
    #expect(lines.contains { $0.contains(#""latitude > 0\nOR latitude < 9""#) })
  }

  @Test func numbersFollowTheScale() throws {
    let lines = try lines(
      of: """
          - {fetch: Mood, limit: Mood / Country, as: moods}
          - {insert: Country, times: 3 * scale}
        """)
    #expect(lines.contains("request.fetchLimit = 2") && lines.contains("for _ in 0..<3 {"))
  }

  @Test func quotedNilIsExportedAsText() throws {
    let lines = try lines(
      of: """
          - {insert: Mood, with: {remoteIdentifier: nil}}
          - insert Mood with remoteIdentifier "nil"
          - {batch-insert: Mood, with: {remoteIdentifier: "null"}}
        """)
    let call = "object.setValue(%, forKey: \"remoteIdentifier\")"
    #expect(lines.contains(call.replacing("%", with: "nil")))
    #expect(lines.contains(call.replacing("%", with: "\"nil\"")))
    #expect(lines.contains(#"let row: [String: Any] = ["remoteIdentifier": "null"]"#))
  }

  @Test func expressionsOfBatchUpdatesAreExpressions() throws {
    let lines = try lines(
      of: """
          - {batch-update: Mood, with: {latitude: {expression: "latitude + 1"}, longitude: 2}}
          - batch-update Mood with remoteIdentifier = "uppercase(\\"a\\")"
          - {batch-update: Mood, with: {remoteIdentifier: latitude + 1}}
        """)
    let format = #"NSExpression(format: "latitude + 1")"#
    #expect(
      lines.contains(
        #"let values: [String: Any] = ["latitude": \#(format), "longitude": Double(2.0)]"#))
    let quoted = #"NSExpression(format: "uppercase(\"a\")")"#
    #expect(lines.contains(#"let values: [String: Any] = ["remoteIdentifier": \#(quoted)]"#))
    let text = #"["remoteIdentifier": "latitude + 1"]"#
    #expect(lines.contains("let values: [String: Any] = \(text)"))
  }

  @Test func quotesInFileNamesAreEscaped() throws {
    let lines = try lines(of: "  - {fetch: Mood}", named: "o\"dd")
    let folder = #".appendingPathComponent("o\"dd" + "-\(UUID())""#
    #expect(lines.contains { $0.hasPrefix(folder) })
  }

  /// The generated function uses these names for its own variables.
  @Test(arguments: [
    "list", "ordered", "owners", "row", "fetch", "token", "changed", "stride", "makeContext",
    "notificationOfSave",
  ])
  func resultNamesDoNotCollideWithTheProgram(name: String) throws {
    let lines = try lines(of: "  - {fetch: Mood, as: \(name)}")
    #expect(lines.contains("var \(name)2: [NSManagedObject] = []"))
  }

  @Test func resultNamesDoNotCollideWithFunctionsOfColumns() throws {
    let lines = try lines(
      of: "  - {fetch: Mood, result: dictionaries, columns: [count(date)], as: countDate}")
    #expect(lines.contains("let countDate = NSExpressionDescription()"))
    #expect(lines.contains("var countDate2: [NSDictionary] = []"))
    #expect(lines.contains("countDate2 = try main.fetch(request)"))
  }

  @Test func resultNamesDoNotCollideWithConstantsOfOtherResults() throws {
    let lines = try lines(
      of: """
          - {fetch: Country, as: one}
          - {fetch: Mood, where: "country IN $one", as: oneList}
        """)
    #expect(lines.contains("let oneList = one.map { $0 }"))
    #expect(lines.contains("var oneList2: [NSManagedObject] = []"))
    #expect(lines.contains("oneList2 = try main.fetch(request)"))
  }

  @Test func stepsCanUseThePreviousResultWithTheirName() throws {
    let lines = try lines(
      of: """
          - {fetch: Mood, batch: 10, as: moods}
          - {fetch: Mood, where: "SELF IN $moods", batch: 20, as: moods}
          - {fetch: Mood, where: "SELF IN $moods", as: moods}
          - {fetch: Mood, batch: 10, as: moods, fails: 134060}
          - {touch: moods, read: [date]}
          - {context: other}
          - {fetch: Mood, where: "SELF IN $moods", in: other, as: moods}
        """)
    #expect(lines.count { $0 == "guard let moodsBatches = moods else { return }" } == 2)
    #expect(lines.count { $0 == "moods = try fetchBatches(request, in: main)" } == 3)
    let fetched = try #require(lines.firstIndex(of: "moods2 = try main.fetch(request)"))
    let released = try #require(lines.firstIndex(of: "step(main) { moods = nil }"))
    #expect(fetched < released)
    #expect(lines.contains("for object in moods2 {"))
    #expect(lines.contains("let moods2IDs = ids(of: moods2, in: main)"))
    #expect(lines.contains("moods3 = try other2.fetch(request)"))
    #expect(lines.contains("step(main) { moods2 = [] }"))
  }

  @Test func exportedWalkSortsLikeTheStep() throws {
    let lines = try lines(
      of: """
          - {fetch: Mood, as: moods}
          - {walk: moods, sort: "date-, latitude", limit: 2}
          - {context: other}
          - {walk: moods, sort: date, in: other}
        """)
    let date = #"[NSSortDescriptor(key: "date", ascending: "#
    let latitude = #"NSSortDescriptor(key: "latitude", ascending: true)]"#
    #expect(lines.contains("let ordered = sorted(moods, by: \(date)false), \(latitude))"))
    #expect(lines.contains("let object = ordered[index]"))
    #expect(
      lines.contains(
        "let ordered = sorted(moodsIDs.map { other2.object(with: $0) }, by: \(date)true)])"))
    #expect(lines.contains("for object in ordered {"))
  }

  @Test func localizedOrdersPassASelector() throws {
    let lines = try lines(of: "  - {fetch: Mood, sort: localized(remoteIdentifier)-}")
    let descriptor = #"NSSortDescriptor(key: "remoteIdentifier", ascending: false, selector: "#
    #expect(lines.contains("request.sortDescriptors = [\(descriptor).localizedStandardCompare)]"))
    #expect(lines.contains("#selector(NSString.localizedStandardCompare(_:))"))
    #expect(lines.contains("static var localizedStandardCompare: Selector {"))
    let plain = try self.lines(of: "  - {fetch: Mood, sort: remoteIdentifier}")
    #expect(!plain.contains { $0.contains("localizedStandardCompare") })
    let error = try #require(throws: (any Error).self) {
      try self.lines(of: "  - {fetch: Mood, sort: localized(date)}")
    }
    #expect("\(error)".contains("isn't a string"))
  }

  @Test func predicatesReferToResults() throws {
    let lines = try lines(
      of: """
          - {fetch: Country, limit: 1, as: one}
          - {fetch: Mood, where: "country == $one AND remoteIdentifier != '$one'"}
          - {context: other}
          - {count: Mood, where: "country IN $one OR country == $one", in: other}
          - {batch-delete: Mood, where: "country == $one"}
        """)
    #expect(lines.count { $0 == "guard let oneObject = cycling(one, 0) else { return }" } == 2)
    let format = #"NSPredicate(format: "country == %@ AND remoteIdentifier != '$one'", oneObject)"#
    #expect(lines.contains("request.predicate = \(format)"))
    let ids = "oneIDs.map(other2.object(with:))"
    #expect(lines.contains("let oneList = \(ids).map { $0 }"))
    #expect(lines.contains("guard let oneObject = cycling(\(ids), 0) else { return }"))
    #expect(
      lines.contains(
        #"request.predicate = NSPredicate(format: "country IN %@ OR country == %@", oneList, oneObject)"#
      ))
    #expect(lines.contains(#"fetch.predicate = NSPredicate(format: "country == %@", oneObject)"#))
  }

  @Test func modelKeepsIndexesTransformersAndInfiniteValues() throws {
    let folder = try TemporaryFolder()
    let document = folder.file("Places.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
    let model = """
      <model><entity name="Place"><attribute name="latitude" attributeType="Double"/>
      <attribute name="depth" attributeType="Float" defaultValueString="-inf"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="key" optional="YES" attributeType="UUID"/>
      <attribute name="shape" optional="YES" attributeType="Transformable"
      valueTransformerName="NSSecureUnarchiveFromData"/>
      <attribute name="own" optional="YES" attributeType="Transformable"
      valueTransformerName="OwnTransformer"/>
      <fetchIndex name="spot"><fetchIndexElement property="latitude" type="RTree"/></fetchIndex>
      <fetchIndex name="flat"><fetchIndexElement property="latitude" type="Binary"/></fetchIndex>
      <fetchIndex name="folded"><fetchIndexElement expression="lowercase:(name)"
      expressionType="String" type="Binary"/></fetchIndex>
      </entity></model>
      """
    try Data(model.utf8).write(to: document.appendingPathComponent("contents"))
    let scenario = try ScenarioReader.read(
      text: """
        {name: Places, model: Places.xcdatamodel, data: {Place: {count: 1}},
        steps: [{batch-insert: Place, with: {key: 6F9619FF-8B86-D011-B42D-00CF4FC964FF}}],
        variants: [{name: all}]}
        """, url: folder.file("places.yml"), path: "places.yml")
    let program = try ScenarioExport(scenario).program
    #expect(program.contains(#"index("spot", of: placeEntity, [("latitude", true)], as: .rTree),"#))
    let depth = #"attribute("depth", .floatAttributeType, isOptional: false, initially: "#
    #expect(program.contains(depth + "-Float.infinity)"))
    #expect(program.contains(#"index("flat", of: placeEntity, [("latitude", true)]),"#))
    let folded = #"index("folded", of: placeEntity, [("lowercase(name)", true)], "#
    #expect(program.contains(folded + #"computed: ["lowercase(name)": .stringAttributeType]),"#))
    let shape = #"attribute("shape", .transformableAttributeType, "#
    #expect(program.contains(shape + #"transformer: "NSSecureUnarchiveFromData"),"#))
    #expect(program.contains(#"attribute("own", .transformableAttributeType),"#))
    let key = #""key": UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF") as Any"#
    #expect(program.contains("let row: [String: Any] = [\(key)]"))
  }

  @Test func havingPredicatesReferToFunctionsByVariable() throws {
    let fetch = "fetch: Mood, result: dictionaries, columns: [country, count(date)], group: country"
    let lines = try lines(of: "  - {\(fetch), having: \"$countDate > 2\"}")
    #expect(lines.contains(#"request.havingPredicate = NSPredicate(format: "$countDate > 2")"#))
    let error = try #require(throws: (any Error).self) {
      try self.lines(of: "  - {\(fetch), having: \"countDate > 2\"}")
    }
    #expect("\(error)".contains("$countDate"))
  }
}
