import OpenCoreData
import Testing

/// A context that decides what to do with faults whose rows were deleted.
private final class DecidingContext: NSManagedObjectContext, @unchecked Sendable {
  // used only on its queue
  var decision = true
  var calls: [(fault: NSManagedObject, id: NSManagedObjectID, property: NSPropertyDescription?)] =
    []

  override func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID,
    triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    calls.append((fault, oid, property))
    return decision
  }
}

@Suite("shouldHandleInaccessibleFault")
struct InaccessibleFaultTests {
  /// Faults of three moods, of which only the first has a row; the caller keeps the stack.
  private static func faults(
    _ kind: StoreKind
  ) throws -> (context: DecidingContext, moods: [Mood], stack: TestStack) {
    let stack = try TestStack.moody(kind)
    try stack.addMoods(3, countries: 1)
    let other = try stack.coldContext()
    let context = DecidingContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = other.persistentStoreCoordinator
    let moods = try context.performAndWait {
      try Mood.fetch(in: context) {
        $0.includesPropertyValues = false
        $0.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      }
    }
    let writer = try stack.coldContext()
    try writer.performAndWait {
      let all = try writer.fetch(Mood.sortedFetchRequest)
      for mood in all.dropLast() { writer.delete(mood) }
      try writer.save()
    }
    return (context, moods, stack)
  }

  @Test("A fault of an ID that another object gets when it's saved is deleted")
  func faultOfAnIDThatANewObjectGetsIsDeleted() throws {
    let stack = try TestStack(model: WorkshopModel.make())
    let context = try stack.coldContext()
    for obtainsID in [false, true] {
      try context.performAndWait {
        let first = context.make("Team", ["name": "1"])
        try context.save()
        let uri = first.objectID.uriRepresentation()
        let number = try #require(Int(uri.lastPathComponent.dropFirst()))
        let next = uri.deletingLastPathComponent().appendingPathComponent("p\(number + 1)")
        let coordinator = try #require(context.persistentStoreCoordinator)
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: next))
        let fault = context.object(with: id)
        let second = context.make("Team", ["name": "2"])
        if obtainsID { try context.obtainPermanentIDs(for: [second]) }
        try context.save()
        #expect(second.objectID == id)
        #expect(context.registeredObject(for: id) === second)
        #expect(fault.isDeleted && fault.value(forKey: "name") == nil)
        // It doesn't keep a reference to a context that no longer knows it.
        #expect(fault.managedObjectContext == nil)
      }
    }
  }

  @Test(
    "The override is called once for each inaccessible fault and decides",
    arguments: StoreKind.ofRows)
  func overrideIsCalledOncePerInaccessibleFaultAndDecides(kind: StoreKind) throws {
    let (context, moods, stack) = try Self.faults(kind)
    context.performAndWait {
      context.shouldDeleteInaccessibleFaults = false
      for mood in moods {
        _ = mood.value(forKey: "date")
        _ = mood.value(forKey: "latitude")
      }
      #expect(context.calls.map(\.fault) == Array(moods[1...]))
      #expect(context.calls.map(\.id) == moods[1...].map(\.objectID))
      #expect(context.calls.allSatisfy { $0.property == nil })
      #expect(moods.map(\.isDeleted) == [false, true, true])
      #expect(moods.map { $0.value(forKey: "date") == nil } == [false, true, true])
    }
    withExtendedLifetime(stack) {}
  }

  @Test("Returning false stops the process with a message about the fault")
  func returningFalseStopsTheProcess() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let (context, moods, stack) = try Self.faults(.memory)
      context.performAndWait {
        context.decision = false
        _ = moods[1].value(forKey: "date")
      }
      withExtendedLifetime(stack) {}
    }
    let words = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      words.contains("could not fulfill a fault for ") && words.contains("its row no longer exists")
    )
  }
}
