import FailingFiles
import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import MigrationTools
@testable import StoreTools

@Suite(
  "Versions and mapping models that can't be read",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct MappingModelFailureTests {
  private typealias Fixture = MigrationFixture

  /// Finds the steps from the store of a folder to the last version.
  struct Search: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: @Sendable (URL) throws -> [ProgressiveMigration.Step]

    static let all = [
      Search(testDescription: "directly") { try route($0, isProgressive: false).steps },
      Search(testDescription: "version by version") {
        try route($0, isProgressive: true).steps
      },
      Search(testDescription: "version by version, by the framework") { folder in
        try ProgressiveMigration(
          storeURL: folder.appendingPathComponent(storeName),
          versionsURL: folder.appendingPathComponent(modelName), to: versions[2]
        ).steps
      },
    ]

    private static func route(_ folder: URL, isProgressive: Bool) throws -> MigrationRoute {
      let model = folder.appendingPathComponent(modelName).path
      return try MigrationRoute(
        of: folder.appendingPathComponent(storeName).path,
        to: FoundModel(path: model, version: versions[2]), isProgressive: isProgressive)
    }
  }

  private static let storeName = "Moods.sqlite"
  private static let modelName = "Mood.xcdatamodeld"
  private static let versions = ["Mood", "Mood 2", "Mood 3"]
  private static let operations: Set<FailingFiles.Kind> = [.readOpen, .read, .list, .status]

  /// The model of a version, each of which has an attribute more than the one before.
  private static func model(_ number: Int) -> NSManagedObjectModel {
    Fixture.model { mood in
      for name in ["place", "time"].prefix(number) {
        mood.properties.append(Fixture.attribute(name))
      }
    }
  }

  /// A mapping model that keeps the objects without their values.
  private static func mapping(_ from: String, _ to: String) -> String {
    """
    <?xml version="1.0"?><database>
    <object type="XDDEVMAPPINGMODEL" id="z1">
    <attribute name="sourcemodelpath" type="string">\(modelName)/\(from).xcdatamodel</attribute>
    <attribute name="destinationmodelpath" type="string">\(modelName)/\(to).xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z2"/>
    </object>
    <object type="XDDEVENTITYMAPPING" id="z2">
    <attribute name="sourcename" type="string">Mood</attribute>
    <attribute name="mappingtypename" type="string">Undefined</attribute>
    <attribute name="mappingnumber" type="int16">1</attribute>
    <attribute name="destinationname" type="string">Mood</attribute>
    <attribute name="autogenerateexpression" type="bool">1</attribute>
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z1"/>
    </object></database>
    """
  }

  /// Creates a store of the first version, the versions, and mapping models between some of them.
  private static func create(in folder: TemporaryFolder, mapping pairs: [(Int, Int)]) throws {
    _ = try Fixture.store(folder)
    for (number, name) in versions.enumerated() {
      _ = try Fixture.write(
        ModelDocument.text(of: model(number)).text, as: "\(modelName)/\(name).xcdatamodel",
        to: folder)
    }
    for (from, to) in pairs {
      let document = folder.file("\(from)-\(to).xcmappingmodel")
      try FileManager.default.createDirectory(at: document, withIntermediateDirectories: true)
      try Data(mapping(versions[from], versions[to]).utf8)
        .write(to: document.appendingPathComponent("xcmapping.xml"))
    }
  }

  /// Otherwise, a step would be inferred or left out, and lose what its mapping model maps.
  @Test("They aren't taken for missing ones", arguments: Search.all)
  func theyAreNotMissing(search: Search) throws {
    let (template, scratch) = (try TemporaryFolder(), try TemporaryFolder())
    defer { withExtendedLifetime((template, scratch)) {} }
    try Self.create(in: template, mapping: [(0, 1), (1, 2), (0, 2)])
    var found: [String] = []
    let sweep = FailureSweep(copying: template.url, into: scratch.url) { folder in
      found = try search.steps(folder).map(\.description)
    }
    _ = try sweep.withoutFailure()
    let complete = found
    #expect(!complete.isEmpty && complete.allSatisfy { $0.hasSuffix("with a mapping model") })
    let limit = FailingFiles.limitOfShortOperations
    let attempts = try sweep.run(.inputOutput, failing: Self.operations, limit: limit) { attempt in
      if let error = attempt.error {
        #expect(!ErrorText.of(error).isEmpty, "\(attempt.description)")
      } else {
        #expect(found == complete, "\(attempt.description)")
      }
    }
    #expect(attempts > 50)
  }

  @Test("An error of a store that can't be read names it")
  func errorsNameTheStore() throws {
    let folder = try TemporaryFolder()
    try Self.create(in: folder, mapping: [])
    var errors = 0
    for number in 1... {
      let (result, report) = FailingFiles.run(
        below: folder.file(Self.storeName), counting: [.read],
        failure: .init(.inputOutput, at: number)
      ) { try Search.all[0].steps(folder.url) }
      guard report.failures > 0 else { break }
      guard case .failure(let error) = result else { continue }
      errors += 1
      #expect(ErrorText.of(error).contains(Self.storeName), "\(number): \(error)")
    }
    #expect(errors > 0)
  }

  @Test("A store isn't migrated without them when it's opened")
  func openedStoresAreNotMigrated() throws {
    let folder = try TemporaryFolder()
    try Self.create(in: folder, mapping: [(0, 2)])
    let models = folder.file("Models")
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
    for name in [Self.modelName, "0-2.xcmappingmodel"] {
      try FileManager.default.moveItem(
        at: folder.file(name), to: models.appendingPathComponent(name))
    }
    let bundle = try #require(Bundle(path: models.path))
    #expect(bundle.resourceURL != nil)
    /// Opens a copy of the store, and returns its notes.
    func notes(failing number: Int, isPermanent: Bool = false) throws -> (
      notes: [[SQLiteValue]], failures: Int, isOpened: Bool
    ) {
      let url = folder.file("\(UUID().uuidString).sqlite")
      try FileManager.default.copyItem(at: folder.file(Self.storeName), to: url)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(2))
      coordinator.migrationBundles = [bundle]
      let (result, report) = FailingFiles.run(
        below: models, counting: Self.operations,
        failure: .init(.inputOutput, at: number, isPermanent: isPermanent)
      ) {
        try coordinator.addPersistentStore(
          type: .sqlite, at: url,
          options: [
            NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
          ])
      }
      let store = try? result.get()
      if let store { try coordinator.remove(store) }
      return try (
        Fixture.values(url, "SELECT ZNOTE FROM ZMOOD ORDER BY Z_PK"), report.failures, store != nil
      )
    }
    let old = try Fixture.values(
      folder.file(Self.storeName), "SELECT ZNOTE FROM ZMOOD ORDER BY Z_PK")
    let mapped = try notes(failing: 0).notes
    #expect(mapped != old)
    var failures = 0
    for isPermanent in [false, true] {
      for number in 1... {
        let found = try notes(failing: number, isPermanent: isPermanent)
        guard found.failures > 0 else { break }
        failures += 1
        #expect(found.notes == (found.isOpened ? mapped : old), "\(number), \(isPermanent)")
      }
    }
    #expect(failures > 20)
  }
}
