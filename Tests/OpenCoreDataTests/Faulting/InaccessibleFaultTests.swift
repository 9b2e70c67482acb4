import OpenCoreData
import Testing

/// A context that says by itself what becomes of faults whose rows are gone.
private final class DecidingContext: NSManagedObjectContext, @unchecked Sendable {
  // used on its queue alone
  var decision = true
  var asked: [(fault: NSManagedObject, id: NSManagedObjectID, property: NSPropertyDescription?)] =
    []

  override func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID,
    triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    asked.append((fault, oid, property))
    return decision
  }
}

@Suite("shouldHandleInaccessibleFault")
struct InaccessibleFaultTests {
  /// Faults of three moods, the first of which is there; the program has what it needs to keep them.
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

  @Test(
    "The override is called once for each such fault and decides",
    arguments: StoreKind.ofRows)
  func overrideDecidesOncePerInaccessibleFault(kind: StoreKind) throws {
    let (context, moods, stack) = try Self.faults(kind)
    context.performAndWait {
      context.shouldDeleteInaccessibleFaults = false
      for mood in moods {
        _ = mood.value(forKey: "date")
        _ = mood.value(forKey: "latitude")
      }
      #expect(context.asked.map(\.fault) == Array(moods[1...]))
      #expect(context.asked.map(\.id) == moods[1...].map(\.objectID))
      #expect(context.asked.allSatisfy { $0.property == nil })
      #expect(moods.map(\.isDeleted) == [false, true, true])
      #expect(moods.map { $0.value(forKey: "date") == nil } == [false, true, true])
    }
    withExtendedLifetime(stack) {}
  }

  @Test("Returning false ends the program with the object's ID")
  func returningFalseEndsTheProgram() async throws {
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
