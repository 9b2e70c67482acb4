import OpenCoreData
import Testing

@Suite("The entity of a class")
struct ClassEntityTests {
  @Test("A class returns its entity in the model used last, and a fetch request for it")
  func classEntityComesFromTheModelUsedLast() throws {
    Clerk.registerClass(named: "Clerk")
    for _ in 0..<2 {
      let model = TestModels.company()
      model.entitiesByName["Employee"]?.managedObjectClassName = "Clerk"
      let stack = try SharedStack(.memory, model)
      #expect(Clerk.entity() === model.entitiesByName["Employee"])
      let context = stack.context()
      try context.performAndWait {
        _ = Clerk(context: context)
        let request: NSFetchRequest<any NSFetchRequestResult> = Clerk.fetchRequest()
        #expect(request.entityName == "Employee")
        let count = try context.count(for: request)
        #expect(count == 1)
      }
    }
  }

  @Test("A class that two entities have chooses its own")
  func overriddenEntityIsThatOfRequestsAndNewObjects() throws {
    let model = TestModels.company()
    for entity in model.entities { entity.managedObjectClassName = "Agent" }
    Agent.registerClass(named: "Agent")
    let context = try SharedStack(.memory, model).context()
    Agent.chosen = model.entitiesByName["Department"]
    let request: NSFetchRequest<any NSFetchRequestResult> = Agent.fetchRequest()
    #expect(request.entity === model.entitiesByName["Department"])
    context.performAndWait {
      #expect(Agent(context: context).entity === model.entitiesByName["Department"])
    }
  }

  @Test("entity() stops for a class that's in no model in use")
  func classWithoutAnEntityIsAProgrammerError() async {
    let unknown = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Clerk.entity()
    }
    #expect(unknown.message.contains("no model in use has an entity with the class Clerk"))
  }
}

/// A class of an entity.
private final class Clerk: NSManagedObject {}

/// A class of two entities.
private final class Agent: NSManagedObject {
  nonisolated(unsafe) static var chosen: NSEntityDescription?
  override class func entity() -> NSEntityDescription { chosen ?? super.entity() }
}
