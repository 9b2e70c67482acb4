import ManagedModel
import OpenCoreData
import Testing

@Suite("Programmer errors stop the process")
struct TrapTests {
  @Test func misusedObjectsStopTheProcess() async {
    let unknownKey = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { _ = Mood(context: context).value(forKey: "noSuchProperty") }
    }
    #expect(unknownKey.message.contains("'Mood' has no property 'noSuchProperty'"))
    let wrongType = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { Mood(context: context).setValue("today", forKey: "date") }
    }
    #expect(wrongType.message.contains("'date' of 'Mood' can't be set to today"))
    let large = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait {
        Continent(context: context).setValue(NSNumber(value: 1e300), forKey: "numberOfCountries")
      }
    }
    #expect(large.message.contains("'numberOfCountries' of 'Continent' can't be set to 1e+300"))
    #expect(large.message.contains("it takes numbers of up to 64 bits"))
    let abstract = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { _ = context.make("Region") }
    }
    #expect(abstract.message.contains("'Region' is abstract"))
    let foreign = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let stack = try TestStack.moody()
      let (first, second) = (try stack.coldContext(), try stack.coldContext())
      let country = first.performAndWait { Country(context: first) }
      second.performAndWait { Mood(context: second).country = country }
    }
    #expect(foreign.message.contains("'country' can't refer to an object of another context"))
  }

  @Test("Refreshing an object of another model's context stops with a message")
  func refreshOfAnObjectOfAnotherModelStops() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack.moody()
      try stack.addMoods(1, countries: 1)
      let first = try stack.coldContext()
      let second = try TestStack(model: WorkshopModel.make()).coldContext()
      let country = try first.performAndWait {
        let country = try #require(try Country.fetch(in: first).first)
        country.numberOfMoods = 9
        return country
      }
      second.performAndWait { second.refresh(country, mergeChanges: true) }
    }
    #expect(result.message.contains("'Country' belongs to another model than this context's"))
  }

  @Test("S-A06 inserting without a coordinator, or an unknown entity, stops with what's missing")
  func missingCoordinatorOrEntityIsNamedInTheMessage() async throws {
    let loose = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
      }
    }
    #expect(
      String(decoding: loose.standardErrorContent, as: UTF8.self)
        .contains("no persistent store coordinator"))
    let unknown = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Modo", into: context)
      }
    }
    let words = String(decoding: unknown.standardErrorContent, as: UTF8.self)
    #expect(words.contains("no entity 'Modo'") && words.contains("Mood"))
    let context = try TestStack.moody().coldContext()
    context.performAndWait {
      #expect(NSEntityDescription.entity(forEntityName: "Modo", in: context) == nil)
    }
  }

  private final class Meter: NSManagedObject {
    var reading = 0

    override class var keyedAccessors: [KeyedAccessor] {
      super.keyedAccessors + [KeyedAccessor("reading", \Meter.reading)]
    }
  }

  @Test("The key of a property that can't be set to nil is named in the message")
  func keyOfANonoptionalPropertyIsNamedInTheMessage() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let entity = NSEntityDescription()
      entity.name = "Meter"
      entity.managedObjectClassName = "Meter"
      Meter.registerClass()
      let model = NSManagedObjectModel()
      model.entities = [entity]
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      Meter(entity: entity, insertInto: nil).setValue(nil, forKey: "reading")
    }
    let words = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(words.contains("'reading' of 'Meter' can't be set to nil: override setNilValueForKey"))
  }

  @Test("S-A18 an unknown key is named in the message")
  func unknownKeyIsNamedInTheMessage() async throws {
    let result = try await #require(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let model = try TestStack.moody().model
      let entity = model.entitiesByName["Mood"] ?? NSEntityDescription()
      _ = NSManagedObject(entity: entity, insertInto: nil).value(forKey: "mood")
    }
    let words = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(words.contains("'Mood' has no property 'mood'"))
  }
}
