import OpenCoreData
import Testing

@Suite("Stores that are opened through a symbolic link")
struct LinkedStoreTests {
  @Test("A commit to the file that a link leads to posts a remote change notification")
  func commitToALinkedFilePostsANotification() async throws {
    let stack = try SharedStack(.sqlite, SavingModels.items())
    let folder = stack.storeURL.deletingLastPathComponent().appendingPathComponent("links")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let link = folder.appendingPathComponent("Link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: stack.storeURL)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SavingModels.items())
    try coordinator.addPersistentStore(
      type: .sqlite, at: link,
      options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
    let changes = RemoteChangeList(coordinator)
    let context = stack.context()
    try context.performAndWait {
      _ = context.make("Item")
      try context.save()
    }
    #expect(try await eventually { changes.tokens.first == "no token" })
    withExtendedLifetime(coordinator) {}
  }
}
