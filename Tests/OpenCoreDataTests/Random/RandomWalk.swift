import OpenCoreData
import ProfileEvents
import Testing

@testable import OpenCoreData

/// Random operations on a context and on a reference store, compared after each.
final class RandomWalk {
  let stack: TestStack
  var random: SeededRandom
  let events = EventList()
  let context: NSManagedObjectContext
  let other: NSManagedObjectContext
  /// What the database holds, and what the context shows over it.
  var saved = ReferenceStore()
  var current = ReferenceStore()
  /// Objects that the test holds on to; the others the context may let go.
  var held: [Int: NSManagedObject] = [:]
  var ids: [Int: NSManagedObjectID] = [:]
  var lastSerial = 0
  var log: [String] = []
  let seed: UInt64

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    stack = try TestStack(model: WorkshopModel.make())
    context = try stack.coldContext(sinks: [events])
    context.name = "main"
    other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = context.persistentStoreCoordinator
    other.name = "other"
  }

  var comment: Comment {
    "seed \(seed), after: \(log.suffix(12).joined(separator: " | "))"
  }

  func walk(steps: Int) throws {
    for number in 0..<steps {
      try context.performAndWait {
        try step()
        if int(4) == 0 { checkAll() } else { checkOne() }
      }
      checkRest()
      if number == steps - 1 { try finish() }
    }
  }

  private func finish() throws {
    try context.performAndWait {
      checkAll()
      try context.save()
      saved = current
    }
    log.append("cold")
    let cold = try stack.coldContext()
    try cold.performAndWait {
      try check(cold, against: saved)
    }
  }

  func int(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  func serial(of root: String? = nil) -> Int? {
    current.objects.filter { root == nil || $0.value.root == root }.keys.sorted()
      .randomElement(using: &random)
  }

  /// The main context's object of a serial.
  func object(_ serial: Int) -> NSManagedObject {
    if let object = held[serial] { return object }
    guard let id = ids[serial] else { preconditionFailure("serial \(serial) was let go unsaved") }
    return context.object(with: id)
  }

  func serial(_ object: NSManagedObject) -> Int {
    Int(object.value(forKey: "serial") as? Int64 ?? -1)
  }
}
