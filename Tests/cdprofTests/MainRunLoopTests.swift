import Foundation
import Testing

/// Runs a separate program, because tests don't run a run loop on the main thread.
@Suite("Main-queue contexts and the main run loop")
struct MainRunLoopTests {
  /// A program that exits with the number of the first failed expectation.
  private static let source = """
    import Dispatch
    import OpenCoreData

    let entity = NSEntityDescription()
    entity.name = "Item"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    nonisolated(unsafe) var notes = 0
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { _ in notes += 1 }

    func turn() { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05)) }
    func expect(_ isTrue: Bool, _ number: Int32) { if !isTrue { exit(number) } }
    func insert() { NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) }

    insert()
    expect(notes == 0, 1)
    turn()
    expect(notes == 1, 2)
    // A run loop in a block of the main queue doesn't run other blocks.
    nonisolated(unsafe) var isDone = false
    DispatchQueue.main.async {
      MainActor.assumeIsolated {
        for count in 2...3 {
          insert()
          expect(notes == count - 1, 3)
          turn()
          expect(notes == count, 4)
        }
      }
      isDone = true
    }
    while !isDone { turn() }
    turn()
    expect(notes == 3, 5)
    // Changes in a block that the run loop performs.
    RunLoop.main.perform { MainActor.assumeIsolated { insert() } }
    turn()
    expect(notes == 4, 6)
    exit(0)

    """

  @Test func mainRunLoopProcessesChanges() throws {
    let program = try BuiltProgram()
    _ = try program.folder.write(Self.source, to: "loop/main.swift")
    let compiler = try ExportCompiler(program)
    let compiled = try compiler.compile(["loop/main.swift"], to: "loop.out")
    try #require(compiled.status == 0, "\(compiled.output)")
    #expect(try compiler.run("loop.out", []).status == 0)
  }
}
