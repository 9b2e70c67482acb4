import Foundation
import OpenCoreData
import Profiling
import SQLiteDriver
import ScenarioFiles
import Testing
import WorkbenchFixtures

@testable import ScenarioLanguage
@testable import StoreTools
@testable import WorkbenchText

@Suite("Inspecting stores")
struct StoreInspectorTests {
  /// Creates the store of a small scenario in a temporary folder.
  private func store() throws -> (url: URL, folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    let scenario = try ScenarioReader.read(
      text: """
        name: Small
        model: Moody
        data:
          Continent: {count: 2}
          Country: {count: 20, continent: cycle}
          Mood: {count: 50, country: cycle}
        steps: []
        """,
      url: PackagedScenarios.folder.appendingPathComponent("small.yml"), path: "small.yml")
    let url = folder.file("small.sqlite")
    _ = try ScenarioData.make(scenario.data, model: scenario.model, scale: 1, at: url)
    return (url, folder)
  }

  @Test func ownStoreIsDescribedByItsModel() throws {
    let store = try store()
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.entities.map(\.name) == ["Mood", "Region", "Continent", "Country"])
    #expect(inspection.entities.map(\.count) == [50, 22, 2, 20])
    #expect(inspection.entities.map(\.ownCount) == [50, 0, 2, 20])
    #expect(inspection.entities.map(\.depth) == [0, 0, 1, 1])
    #expect(inspection.entities.map(\.table) == ["ZMOOD", "ZREGION", "ZREGION", "ZREGION"])
    #expect(inspection.entities[1].isAbstract)
    let country = inspection.entities[3].relationships
    #expect(country.map(\.name) == ["continent", "moods"])
    #expect(country.map(\.destination) == ["Continent", "Mood"])
    #expect(country.map(\.isToMany) == [false, true])
    #expect(country.map(\.deleteRule) == ["Nullify", "Cascade"])
    #expect(inspection.entities[3].attributes == [], "inherited attributes are listed under Region")
    #expect(
      inspection.indexes.first { $0.name == "Z_Mood_byDateIndex" }?.columns == ["ZDATE"])
    #expect(inspection.hasOwnDigests)
    #expect(inspection.writer == .other("cdprof OpenCoreData"))
    #expect(inspection.modelIdentifiers == ["Moody for scenarios"])
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: store.url.path)[.size] as? Int64)
    #expect(inspection.files.bytes == size)
    #expect(inspection.files.pages * inspection.files.pageSize == Int(size))
  }

  @Test func jsonHasTheSameNumbers() throws {
    let store = try store()
    let inspection = try StoreInspector.inspect(store.url)
    let json = try JSONSerialization.jsonObject(with: try InspectionJSON.data(inspection))
    let object = try #require(json as? [String: Any])
    let entities = try #require(object["entities"] as? [[String: Any]])
    #expect(entities.compactMap { $0["name"] as? String } == inspection.entities.map(\.name))
    #expect(entities.compactMap { $0["count"] as? Int } == [50, 22, 2, 20])
    #expect(entities.compactMap { $0["ownCount"] as? Int } == [50, 0, 2, 20])
    #expect((object["sizes"] as? [String: Any])?["pageSize"] as? Int == 4_096)
    #expect((object["model"] as? [String: Any])?["hashes"] as? String == "cdprof")
    #expect((object["indexes"] as? [Any])?.count == inspection.indexes.count)
  }

  /// Stores written by Core Data, the row counts of their entities, and the framework version.
  @Test(
    .enabled(if: SharedData.moodyStores != nil),
    arguments: [
      (
        "moody/stores/Moody.moody",
        ["Continent": 2, "Country": 3, "GeographicRegion": 5, "Mood": 4], 637
      ),
      ("moody/stores/Moody 4.moody", ["Continent": 2, "Country": 3, "Mood": 4], 637),
      (
        "stores/SampleModel_V2.sqlite",
        ["Car": 125, "LuxuryCar": 5, "Person": 20, "SportCar": 10], 1_044
      ),
      ("stores/Recipes.sqlite", ["Image": 7, "Ingredient": 31, "Recipe": 7, "RecipeType": 5], 241),
    ])
  func appleStoresAreInspected(path: String, counts: [String: Int], version: Int) throws {
    let data = try #require(SharedData.moodyStores).deletingLastPathComponent()
      .deletingLastPathComponent()
    let inspection = try StoreInspector.inspect(data.appendingPathComponent(path))
    let found = Dictionary(
      inspection.entities.map { ($0.name, $0.count) }, uniquingKeysWith: { $1 })
    #expect(found == counts)
    #expect(inspection.frameworkVersion == version)
    #expect(inspection.writer == .apple)
    #expect(!inspection.hasOwnDigests)
    #expect(inspection.modelSource == (version == 241 ? .schema : .cache))
    let text = InspectionText.lines(inspection).joined(separator: "\n")
    // The share of bytes within pages, not of free pages.
    let hasSpaces = inspection.spaces?.isEmpty == false
    #expect(text.contains("% of this space is unused") == hasSpaces)
    #expect(text.contains("inferred") == (version == 241))
    for (name, count) in counts {
      #expect(text.contains(try Regex("\(name) +\(count) ")))
    }
  }

  /// A row with the primary key 0, and one with the entity ID of another table.
  @Test func unmappableRowsAreNotCounted() throws {
    let store = try store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute(
      "INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT) SELECT 0, Z_ENT, 1 FROM ZMOOD LIMIT 1; "
        + "INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT) "
        + "SELECT 90, Z_ENT, 1 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Country'")
    connection.close()
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.unmappableRows.map(\.keys) == [[0, 90]])
    #expect(inspection.entities.map(\.count) == [50, 22, 2, 20])
    #expect(inspection.rowCount == 72)
  }

  /// Entities of other configurations aren't part of the store.
  @Test func configurationIsInspected() throws {
    let store = try ConfigurationStore()
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.configuration == "Local")
    #expect(inspection.entities.map(\.name) == ["City"])
    #expect(inspection.entities.map(\.table) == ["ZCITY"])
    #expect(inspection.entities.map(\.count) == [2])
    #expect(inspection.entities[0].relationships.map { $0.spread?.empty } == [2])
    #expect(
      InspectionText.lines(inspection).contains {
        $0.hasSuffix("in the store, configuration Local")
      })
    let json = try JSONSerialization.jsonObject(with: try InspectionJSON.data(inspection))
    let model = (json as? [String: Any])?["model"] as? [String: Any]
    #expect(model?["configuration"] as? String == "Local")
    let complete = try ConfigurationStore(nil)
    let whole = try StoreInspector.inspect(complete.url)
    #expect(whole.configuration == nil && whole.entities.map(\.name) == ["City", "Country"])
  }

  @Test func infiniteTimeOfAHistoryIsUnknown() throws {
    let store = try OfficeStore()
    try store.run("UPDATE ATRANSACTION SET ZTIMESTAMP = 9e999")
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.history?.transactions == 1 && inspection.history?.last == nil)
    #expect(try !InspectionJSON.data(inspection).isEmpty)
  }

  /// SQLite reports a full disk for such a page.
  @Test func pageNumberThatNoFileCanHaveIsCorruption() throws {
    let bed = try RepairBed()
    // An overflow page of a long name, which isn't the last one.
    let page = try #require(
      (2...bed.pageCount).first { number in
        let bytes = bed.page(number)
        return bytes.prefix(4).contains { $0 != 0 }
          && bytes.dropFirst(4).allSatisfy { $0 == UInt8(ascii: "x") }
      })
    try Data(bed.replacing(page, with: [0xFF, 0xFF, 0xFF, 0xFF])).write(to: bed.url)
    let inspection = try StoreInspector.inspect(bed.url)
    #expect(inspection.spaces == nil && inspection.entities.contains { $0.name == "Person" })
  }

  @Test func unreadableModelFallsBackToTables() throws {
    let store = try store()
    let connection = try Connection(path: store.url.path, access: .writing)
    try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102030405'")
    connection.close()
    let inspection = try StoreInspector.inspect(store.url)
    #expect(inspection.modelSource == .schema)
    #expect(inspection.modelProblem != nil)
    #expect(inspection.entities.map(\.name) == ["Mood", "Region", "Continent", "Country"])
    #expect(inspection.entities.map(\.count) == [50, 22, 2, 20])
    #expect(inspection.entities[0].relationships.map(\.name) == ["country"])
    #expect(inspection.entities[0].attributes.map(\.name).contains("latitude"))
    #expect(InspectionText.lines(inspection).contains { $0.contains("inferred") })
  }

  @Test("Thousands of indexes of a table are read in linear time")
  func indexesAreReadInLinearTime() throws {
    let store = try OfficeStore()
    try store.addIndexes(8_000)
    let connection = try Connection(path: store.url.path, access: .reading)
    defer { connection.close() }
    // SQLite reads the schema.
    _ = try connection.values("SELECT * FROM many")
    let begin = threadTime()
    let indexes = try InspectedSchema(reading: connection).indexes
    #expect(threadTime() - begin < 20)
    #expect(indexes.count { $0.table == "many" && $0.columns == ["a"] } == 8_000)
    #expect(indexes.contains { $0.table == "ZNOTE" })
  }
}
