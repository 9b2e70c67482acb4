import ManagedModel
import Moody
import OpenCoreData
import Testing

@Suite("Programmer errors trap")
struct TrapTests {
  @Test func misusedObjectsTrap() async {
    await #expect(processExitsWith: .failure) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { _ = Mood(context: context).value(forKey: "noSuchProperty") }
    }
    await #expect(processExitsWith: .failure) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { Mood(context: context).setValue("today", forKey: "date") }
    }
    await #expect(processExitsWith: .failure) {
      let context = try TestStack.moody().coldContext()
      context.performAndWait { _ = context.make("Region") }
    }
    await #expect(processExitsWith: .failure) {
      let stack = try TestStack.moody()
      let (first, second) = (try stack.coldContext(), try stack.coldContext())
      let country = first.performAndWait { Country(context: first) }
      second.performAndWait { Mood(context: second).country = country }
    }
  }

  @Test func faultsWithoutAContextTrap() async {
    await #expect(processExitsWith: .failure) {
      let stack = try TestStack.moody()
      try stack.addMoods(1, countries: 1)
      let context = try stack.coldContext()
      try context.performAndWait {
        let moods = try Mood.fetch(in: context)
        context.reset()
        _ = moods[0].date
      }
    }
  }
}
