import Foundation
import OpenCoreData
import Testing
import WorkbenchFixtures

@testable import ScenarioLanguage
@testable import StoreTools

@Suite("Lightweight migration of public models", .enabled(if: SharedData.moodyStores != nil))
struct PublicModelMigrationTests {
  /// Models of published apps with several versions, in the shared data folder.
  static let models = [
    "moody/Moody.xcdatamodeld", "coredataplus/SampleModel.momd", "coredataplus/SampleModel3.momd",
  ]

  @Test(
    "Random rows of each version reach each later one, or the reason is given", arguments: models)
  func everyVersionReachesLaterOnesOrIsRejected(path: String) throws {
    let data = try #require(SharedData.moodyStores)
      .deletingLastPathComponent().deletingLastPathComponent()
    let url = data.appendingPathComponent(path)
    let versions = try NSManagedObjectModel.versions(of: url)
    var migrations = 0
    for (index, first) in versions.enumerated() {
      for second in versions[(index + 1)...] {
        let folder = try TemporaryFolder()
        let store = folder.file("Store.sqlite")
        let old = try NSManagedObjectModel.read(contentsOf: url, version: first)
        try Self.open(store, old) { context in
          var workload = RandomWorkload(model: old, context: context, seed: UInt64(index))
          for _ in 0..<3 { try workload.round() }
        }
        let new = try NSManagedObjectModel.read(contentsOf: url, version: second)
        do {
          try Self.open(store, new) { context in
            var workload = RandomWorkload(model: new, context: context, seed: 9)
            try workload.round()
          }
          migrations += 1
        } catch let error as NSError {
          #expect(
            [NSMigrationMissingMappingModelError, NSMigrationError].contains(error.code),
            "\(first) to \(second): \(error)")
          try Self.open(store, old) { _ in }
        }
        let findings = try StoreDoctor.examine(store).findings.map { "\($0)" }
        #expect(findings == [], "\(first) to \(second)")
      }
    }
    #expect(migrations > 0)
  }

  private static func open(
    _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    context.performAndWait { context.reset() }
    try coordinator.remove(store)
  }
}
