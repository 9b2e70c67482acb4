import Foundation
import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures

@testable import MigrationTools
@testable import ScenarioLanguage
@testable import StoreTools

@Suite("Rehearsals of several sizes")
struct MigrationGrowthTests {
  private typealias Fixture = MigrationFixture

  @Test("Larger copies have the multiple of each object, and unique values")
  func sizesHaveMultiples() throws {
    let folder = try TemporaryFolder()
    let unique = { (mood: NSEntityDescription) in mood.uniquenessConstraints = [["rating"]] }
    let store = try Fixture.store(folder, unique)
    let before = try FolderState(folder.url)
    let elsewhere = try TemporaryFolder()
    let path = try Fixture.write(
      Fixture.model { mood in
        unique(mood)
        mood.properties.removeAll { $0.name == "code" }
        mood.uniquenessConstraints.append(["note"])
      }, to: elsewhere)
    let rehearsal = try Fixture.rehearse(store, to: path, factors: [5, 2])
    let growth = try #require(rehearsal.growth)
    #expect(growth.sizes.map(\.factor) == [1, 2, 5])
    #expect(growth.sizes.map(\.rows) == [6, 12, 30])
    #expect(growth.obstacle == nil)
    #expect(try FolderState(folder.url) == before)
    let automatic = try Fixture.rehearse(store, to: path, factors: nil)
    #expect(automatic.growth?.sizes.map(\.rows) == [6, 10_002, 40_008])
  }

  @Test("The space for a larger copy includes the WAL, and external data once")
  func neededSpaceIsThatOfAllFiles() throws {
    let folder = try TemporaryFolder()
    let store = folder.file("Store.sqlite")
    func write(_ size: Int, _ name: String) throws {
      let file = folder.file(name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(repeating: 1, count: size).write(to: file)
    }
    #expect(try MigrationGrowth.neededSpace(for: store, 3) == nil)
    try write(1_000, "Store.sqlite")
    #expect(try MigrationGrowth.neededSpace(for: store, 3) == 12_000)
    try write(200, "Store.sqlite-wal")
    try write(5_000, ".Store_SUPPORT/_EXTERNAL_DATA/6F0A7B5E-4C0F-4C7A-9B62-3B0C8B1F2A01")
    try write(70, ".Store_SUPPORT/_EXTERNAL_DATA/6F0A7B5E-4C0F-4C7A-9B62-3B0C8B1F2A02")
    #expect(try MigrationGrowth.neededSpace(for: store, 3) == 19_470)
    #expect(try MigrationGrowth.neededSpace(for: store, .max / 8) == nil)
  }

  @Test("A folder of external data that can't be read isn't a lack of space")
  func unreadableFoldersAreErrors() throws {
    let folder = try TemporaryFolder()
    // The name of the folder for external data is too long for a file system.
    let store = folder.file(String(repeating: "a", count: 247) + ".sqlite")
    try Data(repeating: 1, count: 1_000).write(to: store)
    let error = #expect(throws: NSError.self) { try MigrationGrowth.neededSpace(for: store, 3) }
    #expect(error?.code == CocoaError.fileReadUnknown.rawValue)
    #expect(error?.localizedDescription.contains("_EXTERNAL_DATA can't be read") == true)
  }

  /// Sizes of 100 and 200 rows, and what follows from the line through them.
  static let outlooks: [(seconds: [Double], rowsAtLimit: Int?, outlook: Double, isTooSlow: Bool)] =
    [
      ([3, 5], 950, 21, true), ([2, 3], 1_900, 11, false), ([21, 21], nil, 21, true),
    ]

  @Test("The time of larger stores follows from the measured sizes", arguments: outlooks)
  func growthIsALine(seconds: [Double], rowsAtLimit: Int?, outlook: Double, isTooSlow: Bool) {
    let sizes = zip([1, 2], seconds).map {
      MigrationGrowth.Size(factor: $0, rows: 100 * $0, seconds: $1)
    }
    let growth = MigrationGrowth(sizes: sizes)
    #expect(growth.rowsAtLimit == rowsAtLimit)
    #expect(growth.outlookSeconds == outlook)
    #expect(growth.isTooSlow == isTooSlow)
    let single = MigrationGrowth(sizes: Array(sizes.prefix(1)))
    #expect(single.rowsAtLimit == nil && single.outlookSeconds == nil)
  }

  @Test("A copy's text can't be that of another object")
  func multipliedTextIsUnique() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE ZMOOD SET ZNOTE = 'a' || substr('~1~1~1', 1, 2 * (Z_PK - 1))")
    try connection.execute("UPDATE ZMOOD SET ZNOTE = NULL WHERE Z_PK > 4")
    connection.close()
    let path = try Fixture.write(
      Fixture.model { $0.uniquenessConstraints = [["note"]] }, to: folder)
    let growth = try #require(try Fixture.rehearse(store, to: path, factors: [3]).growth)
    #expect(growth.obstacle == nil)
    #expect(growth.sizes.map(\.rows) == [6, 18])
  }

  @Test("Values that can't be made unique are the reason why larger sizes aren't rehearsed")
  func booleansCannotBeMultiplied() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder) { mood in
      mood.properties.append(Fixture.attribute("isFirst", .booleanAttributeType))
    }
    let connection = try Connection(path: store.path, access: .writing)
    try connection.execute("UPDATE ZMOOD SET ZISFIRST = Z_PK - 1 WHERE Z_PK < 3")
    connection.close()
    let path = try Fixture.write(
      Fixture.model { mood in
        mood.properties.append(Fixture.attribute("isFirst", .booleanAttributeType))
        mood.uniquenessConstraints = [["isFirst"]]
      }, to: folder)
    let growth = try #require(try Fixture.rehearse(store, to: path, factors: [2]).growth)
    #expect(growth.sizes.map(\.rows) == [6])
    #expect(growth.obstacle?.contains("Mood requires unique values of isFirst") == true)
  }

  @Test("The time of more rows is a line through the sizes")
  func linesAreFitted() throws {
    func growth(_ times: [Double]) -> MigrationGrowth {
      MigrationGrowth(
        sizes: zip([1, 2, 4], times).map { factor, seconds in
          MigrationGrowth.Size(factor: factor, rows: factor * 1_000, seconds: seconds)
        })
    }
    let slow = growth([2.5, 4.5, 8.5])
    #expect(slow.rowsAtLimit == 9_750)
    #expect(slow.outlookSeconds.map { ($0 * 1_000).rounded() } == 20_500)
    #expect(slow.isTooSlow)
    let fast = growth([0.5, 0.7, 1.1])
    #expect(!fast.isTooSlow)
    #expect(growth([1, 1, 1]).rowsAtLimit == nil)
    #expect(growth([21]).isTooSlow)
    #expect(growth([21]).line == nil)
  }

  @Test("A multiplied random store is intact", arguments: UInt64(1)...8)
  func multipliedStoresAreIntact(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Store.sqlite")
    var mutator = ModelMutator(ModelSketch(), SeededGenerator(seed: seed, stream: "model"))
    mutator.begin()
    let model = mutator.sketch.model()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      var workload = RandomWorkload(model: model, context: context, seed: seed)
      for _ in 0..<3 { try workload.round() }
    }
    try coordinator.remove(store)
    let rows = try MultipliedStore.rowCount(of: url, model: model)
    try MultipliedStore.multiply(url, by: 3, model: model, for: model)
    #expect(try MultipliedStore.rowCount(of: url, model: model) == 3 * rows)
    #expect(try StoreDoctor.examine(url).findings.map(\.message) == [])
    mutator.change(4)
    let path = try Fixture.write(mutator.sketch.model(), to: folder)
    let state = try FolderState(folder.url)
    let rehearsal = try Fixture.rehearse(url, to: path, factors: [2])
    #expect(rehearsal.isPossible)
    #expect(rehearsal.growth?.obstacle == nil)
    #expect(try FolderState(folder.url) == state)
  }

  @Test(
    "A multiplied store written by Core Data is intact",
    .enabled(if: SharedData.moodyStores != nil),
    arguments: SharedData.stores.filter { !$0.contains("Recipes") })
  func multipliedPublicStoresAreIntact(path: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Store.sqlite")
    try FileManager.default.copyItem(at: SharedData.url(path), to: url)
    let model = try FoundModel(path: url.path).model
    let before = try StoreDoctor.examine(url).findings.map(\.rule)
    let rows = try MultipliedStore.rowCount(of: url, model: model)
    try MultipliedStore.multiply(url, by: 4, model: model, for: model)
    #expect(try MultipliedStore.rowCount(of: url, model: model) == 4 * rows)
    #expect(try StoreDoctor.examine(url).findings.map(\.rule) == before)
  }
}

@Suite("Originals of rehearsals")
struct RehearsedOriginalTests {
  private typealias Fixture = MigrationFixture

  /// The time of the last change of each file, by name.
  private static func times(_ folder: URL) throws -> [String: Date] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try names.reduce(into: [:]) { times, name in
      let path = folder.appendingPathComponent(name).path
      times[name] =
        try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    }
  }

  @Test("No file of an open store with a WAL and external data is changed or touched")
  func originalsStayAsTheyAre() throws {
    let folder = try TemporaryFolder()
    let url = folder.file("Store.sqlite")
    func model(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
      Fixture.model { mood in
        let image = Fixture.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        mood.properties.append(image)
        change(mood)
      }
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(type: .sqlite, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for index in 0..<3 {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue(Data(repeating: UInt8(index), count: 300_000), forKey: "image")
      }
      try context.save()
    }
    let (state, times) = (try FolderState(folder.url), try Self.times(folder.url))
    #expect(state.size(of: "Store.sqlite-wal") > 0)
    #expect(times.keys.contains("Store.sqlite-shm"))
    #expect(times.keys.filter { $0.hasPrefix(".Store_SUPPORT/_EXTERNAL_DATA/") }.count == 3)
    let elsewhere = try TemporaryFolder()
    let path = try Fixture.write(
      model { mood in mood.properties.removeAll { $0.name == "image" } }, to: elsewhere)
    let rehearsal = try Fixture.rehearse(
      url, to: path, keepingAt: elsewhere.file("Kept.sqlite"), factors: [2])
    #expect(rehearsal.losses == [MigrationLoss(entity: "Mood", property: "image", values: 3)])
    #expect(rehearsal.growth?.sizes.map(\.rows) == [3, 6])
    #expect(try FolderState(folder.url) == state)
    #expect(try Self.times(folder.url) == times)
  }

  @Test("A removed and an added property of the same type are reported as a possible rename")
  func renamesAreSuspected() throws {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(folder)
    let path = try Fixture.write(
      Fixture.model { mood in
        mood.properties = [
          Fixture.attribute("notes"), Fixture.attribute("code"),
          Fixture.attribute("stars", .doubleAttributeType),
        ]
      }, to: folder)
    let rehearsal = try Fixture.rehearse(store, to: path)
    #expect(
      rehearsal.steps.flatMap(\.suspectedRenames) == [
        SuspectedRename(
          entity: "Mood", removed: "note", added: "notes", kind: "String", identifier: "note")
      ])
    #expect(
      MigrationText.lines(rehearsal).contains {
        $0.contains("set its renaming identifier to note")
      })
  }
}
