import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite("Ways to a version", .enabled(if: SharedData.moodyStores != nil))
struct MigrationRouteTests {
  private typealias Fixture = MigrationFixture

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A copy of a store, whose folder has no other files.
  private func store(_ path: String) throws -> URL {
    let copies = folder.file("stores-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    let url = copies.appendingPathComponent("Store.sqlite")
    try FileManager.default.copyItem(at: SharedData.url(path), to: url)
    return url
  }

  private func moody(_ version: Int) throws -> URL {
    try store("moody/stores/Moody\(version == 1 ? "" : " \(version)").moody")
  }

  private static func versions() throws -> String {
    try SharedData.url("moody/Moody.xcdatamodeld").path
  }

  private static func mapping(_ from: Int) throws -> String {
    try SharedData.url("moody/Moody \(from)-Moody \(from + 1).xcmappingmodel").path
  }

  @Test("S14-4 A mapping model next to the versions is used, and its passes are measured")
  func mappedStepIsRehearsed() throws {
    let store = try moody(2)
    let kept = folder.file("Kept.sqlite")
    let rehearsal = try Fixture.rehearse(
      store, to: Self.versions(), version: "Moody 3", keepingAt: kept)
    #expect(rehearsal.route.source.name == "Moody 2")
    #expect(!rehearsal.isInferred)
    #expect(rehearsal.isPreserving)
    let step = try #require(rehearsal.steps.first)
    let mappings = ["MoodToMood", "CountryToCountry", "ContinentToContinent"]
    #expect(step.mappings == mappings)
    #expect(
      step.work.map(\.name) == mappings.map { "\($0): create instances" }
        + mappings.map { "\($0): set relationships" } + ["all instances: validate"])
    #expect(step.work.map(\.instances) == [4, 3, 2, 4, 3, 2, nil])
    #expect(step.work.prefix(3).map(\.rows) == [4, 3, 2])
    #expect(step.work[0].sql.contains("INSERT INTO ZMOOD"))
    #expect(step.costs.peakDisk > rehearsal.sizes.before)
    #expect(step.costs.peakSQLiteMemory > 0)
    let fixture = try SharedData.url("moody/stores/Moody 3.moody")
    let sql = "SELECT count(*), count(ZCONTINENT), count(ZCOUNTRY) FROM ZMOOD"
    #expect(try Fixture.values(kept, sql) == Fixture.values(fixture, sql))
  }

  @Test("A policy that only the app has is a refusal, which names each mapping and class")
  func policiesAreRefused() throws {
    let store = try moody(5)
    let bytes = try Data(contentsOf: store)
    let rehearsal = try Fixture.rehearse(store, to: Self.versions())
    #expect(rehearsal.version == "Moody 6")
    #expect(!rehearsal.isPossible)
    #expect(rehearsal.steps.isEmpty)
    let lines = MigrationText.lines(rehearsal)
    #expect(
      lines.contains(
        "  ✗ From Moody 5 to Moody 6, the entity mapping CountryToCountry needs the policy class "
          + "Migrations.Country5ToCountry6Policy."))
    let fields = try Fixture.fields(rehearsal)
    #expect(fields["inferred"] as? Bool == false)
    #expect((fields["refused"] as? String)?.contains("registerClass") == true)
    let policy = try #require((fields["policies"] as? [[String: Any]])?.first)
    #expect(policy["mapping"] as? String == "CountryToCountry")
    #expect(policy["class"] as? String == "Migrations.Country5ToCountry6Policy")
    #expect(try Data(contentsOf: store) == bytes)
  }

  @Test(
    "S14-15 Stores of all versions are migrated version by version, as far as no policy is needed",
    arguments: 1...5)
  func versionsAreFollowed(from: Int) throws {
    let store = try moody(from)
    let bytes = try Data(contentsOf: store)
    let rehearsal = try Fixture.rehearse(store, to: Self.versions(), isProgressive: true)
    #expect(rehearsal.steps.map(\.isInferred) == (from..<5).map { $0 == 1 })
    #expect(rehearsal.violations.isEmpty)
    guard case .policies(_, "Moody 5", "Moody 6")? = rehearsal.refusal else {
      Issue.record("the last step isn't refused")
      return
    }
    // The codes of continents are read through Country; no mapping reads Mood.continent.
    let losses: [MigrationLoss] =
      from == 5
      ? []
      : [
        MigrationLoss(entity: "Continent", property: nil, values: 2),
        MigrationLoss(entity: "Mood", property: "continent", values: 4),
      ]
    #expect(rehearsal.losses == losses)
    #expect(try Data(contentsOf: store) == bytes)
  }

  @Test("A version-by-version migration is proposed if the direct one loses values")
  func detourIsProposed() throws {
    let direct = try Fixture.rehearse(moody(1), to: Self.versions(), version: "Moody 5")
    #expect(direct.isInferred)
    #expect(direct.warnings.contains { $0.contains("--progressive") })
    let lossless = try Fixture.rehearse(moody(1), to: Self.versions(), version: "Moody 2")
    #expect(lossless.warnings.isEmpty)
    let aside = try Fixture.rehearse(
      moody(1), to: Self.versions(), version: "Moody 2", mappings: [Self.mapping(3)])
    #expect(aside.warnings.count == 1)
    #expect(aside.warnings.first?.contains("3-Moody 4.xcmappingmodel isn't used") == true)
    let back = try Fixture.rehearse(moody(5), to: Self.versions(), version: "Moody 4")
    #expect(back.warnings == ["The store's version, Moody 5, is later than Moody 4."])
  }

  @Test("S14-5 A merged hierarchy is refused with the least change that would be lightweight")
  func mergedHierarchyIsRefused() throws {
    // The final model has other renaming identifiers than version 5.
    let store = try moody(4)
    let final = try SharedData.url("moody/final/Moody.xcdatamodeld").path
    let rehearsal = try Fixture.rehearse(store, to: final)
    guard case .notInferable(let gap)? = rehearsal.refusal else {
      Issue.record("not refused")
      return
    }
    #expect(Set(gap.obstacles.compactMap(\.entity)) == ["Continent", "Country"])
    #expect(
      gap.obstacles.allSatisfy {
        $0.leastChange?.hasPrefix("Leave the parent of \($0.path) as it was") == true
      })
  }

  @Test("A store without its model gets it from the folder of versions, by its hashes")
  func versionIsFoundByHashes() throws {
    func storeWithoutModel(_ path: String) throws -> URL {
      let store = try self.store(path)
      let connection = try Connection(path: store.path, access: .writing)
      try connection.execute("DELETE FROM Z_MODELCACHE")
      connection.close()
      return store
    }
    let momd = try SharedData.url("coredataplus/SampleModel.momd").path
    let store = try storeWithoutModel("stores/SampleModel_V1.sqlite")
    let rehearsal = try Fixture.rehearse(store, to: momd, version: "SampleModel2")
    #expect(rehearsal.route.source.name == "SampleModel")
    #expect(rehearsal.isInferred)
    #expect(rehearsal.isPossible)
    let other = try storeWithoutModel("moody/stores/Moody.moody")
    #expect(throws: InvalidInputError.self) { try Fixture.rehearse(other, to: momd) }
  }

  @Test("A mapping model of --mapping is used, and one that doesn't fit is an error")
  func givenMappingModelIsUsed() throws {
    let text = try String(
      contentsOfFile: Self.versions() + "/Moody 3.xcdatamodel/contents", encoding: .utf8)
    let alone = try Fixture.write(text, as: "Alone.xcdatamodel", to: folder)
    let store = try moody(2)
    let inferred = try Fixture.rehearse(store, to: alone)
    #expect(inferred.isInferred)
    let mapped = try Fixture.rehearse(store, to: alone, mappings: [Self.mapping(2)])
    #expect(mapped.steps.map(\.isInferred) == [false])
    #expect(mapped.isPreserving)
    #expect(throws: ModelErrors.self) {
      try Fixture.rehearse(store, to: alone, mappings: [Self.mapping(4)])
    }
    #expect(throws: InvalidInputError.self) {
      try Fixture.rehearse(store, to: alone, mappings: ["missing.xcmappingmodel"])
    }
  }

  @Test("Rules that migrated objects break are violations, with their numbers but without values")
  func brokenRulesAreGrouped() throws {
    let text = try String(
      contentsOfFile: Self.versions() + "/Moody 3.xcdatamodel/contents", encoding: .utf8)
    let strict = text.replacing(
      "name=\"numberOfMoods\" attributeType=\"Integer 64\"",
      with: "name=\"numberOfMoods\" attributeType=\"Integer 64\" maxValueString=\"4\"")
    #expect(strict != text)
    let model = try Fixture.write(strict, as: "Strict.xcdatamodel", to: folder)
    let store = try moody(2)
    let rehearsal = try Fixture.rehearse(store, to: model, mappings: [Self.mapping(2)])
    let counts = try Fixture.values(
      store,
      "SELECT count(*) FROM ZGEOGRAPHICREGION WHERE ZNUMBEROFMOODS > 4 GROUP BY Z_ENT ORDER BY 1"
    ).map { $0[0] }
    #expect(!counts.isEmpty)
    #expect(rehearsal.violations.map { SQLiteValue.integer(Int64($0.rows ?? 0)) } == counts)
    #expect(rehearsal.violations.allSatisfy { $0.property == "numberOfMoods" })
    #expect(rehearsal.violations.allSatisfy { $0.reason.contains("SELF <= 4") })
    #expect(!rehearsal.isPossible)
    #expect(rehearsal.doctor == nil)
  }

  @Test("A store is migrated in place with a mapping model, and existing backups stay")
  func mappedStoreIsMigratedInPlace() throws {
    let store = try moody(2)
    let earlier = store.deletingLastPathComponent().appendingPathComponent("Store~.sqlite")
    try Data("an earlier backup".utf8).write(to: earlier)
    let bytes = try Data(contentsOf: store)
    let rehearsal = try Fixture.rehearse(store, to: Self.versions(), version: "Moody 5")
    #expect(rehearsal.isPossible)
    let along = try Fixture.rehearse(
      store, to: Self.versions(), version: "Moody 5", isProgressive: true)
    let backup = try #require(try along.migrateOriginal(keepsBackup: true))
    #expect(backup.lastPathComponent == "Store~2.sqlite")
    #expect(try Data(contentsOf: backup) == bytes)
    #expect(try Data(contentsOf: earlier) == Data("an earlier backup".utf8))
    let sql = "SELECT ZNUMERICISO3166CODE, ZISOCONTINENT FROM ZCOUNTRY ORDER BY 1"
    let fixture = try SharedData.url("moody/stores/Moody 5.moody")
    #expect(try Fixture.values(store, sql) == Fixture.values(fixture, sql))
    #expect(try StoreDoctor.examine(store).isIntact)
    #expect(
      try FileManager.default.contentsOfDirectory(
        atPath: store.deletingLastPathComponent().path
      ).sorted() == ["Store.sqlite", "Store~.sqlite", "Store~2.sqlite"])
  }

  @Test("A compiled mapping model next to the versions is recognized by its hashes")
  func publicMappingModelIsRecognized() throws {
    let momd = try SharedData.url("coredataplus/SampleModel.momd").path
    let store = try self.store("stores/SampleModel_V2.sqlite")
    let inferred = try Fixture.rehearse(store, to: momd, version: "SampleModel3", mappings: [])
    // The folder next to the versions has the compiled mapping model, which needs a policy.
    guard case .policies(let policies, _, _)? = inferred.refusal else {
      Issue.record("not refused: \(MigrationText.lines(inferred))")
      return
    }
    #expect(!policies.isEmpty)
    let first = try Fixture.rehearse(
      self.store("stores/SampleModel_V1.sqlite"), to: momd, version: "SampleModel2")
    #expect(first.route.source.name == "SampleModel")
    #expect(first.isInferred)
  }

  @Test("Mapping models that fit no two versions, and versions that can't be read, are warnings")
  func unusableFilesAreWarnings() throws {
    let package = folder.file("package")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    let versions = package.appendingPathComponent("Moody.xcdatamodeld")
    try FileManager.default.copyItem(atPath: Self.versions(), toPath: versions.path)
    let mapping = package.appendingPathComponent("V2toV3.cdm")
    try FileManager.default.copyItem(
      at: SharedData.url("coredataplus/V2toV3.cdm"), to: mapping)
    try Data("<model".utf8)
      .write(to: versions.appendingPathComponent("Moody 4.xcdatamodel/contents"))
    let rehearsal = try Fixture.rehearse(moody(1), to: versions.path, version: "Moody 2")
    #expect(rehearsal.isPreserving)
    #expect(
      rehearsal.warnings.map {
        $0.contains("Moody 4 can't be read") || $0.contains("V2toV3.cdm is ignored")
      }
        == [true, true])
    // It may be next to the versions because another model is, too.
    #expect(rehearsal.warnings.contains { $0.hasSuffix("belongs to this model, re-create it.") })
  }
}
