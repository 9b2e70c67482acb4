import OpenCoreData
import ProfileEvents

@testable import OpenCoreData

/// Random operations in two contexts of one store, compared with a reference after each step.
final class RandomWalk {
  let bed: ContextBed
  let seed: UInt64
  var random: SeededRandom
  let store = ReferenceStore()
  let contexts: [WalkedContext]
  /// The context of this step.
  var here: WalkedContext
  var serials: [RowName: Int] = [:]
  var ids: [Int: NSManagedObjectID] = [:]
  var lastSerial = 0
  var log: [String] = []

  init(seed: UInt64, on kind: StoreKind) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    bed = try ContextBed(kind)
    contexts = [0, 1].map { [bed, store] _ in
      WalkedContext(bed.context(), ReferenceContext(over: store))
    }
    here = contexts[0]
    here.context.undoManager = UndoManager()
    // In every other walk, the second context merges the first one's saves automatically.
    contexts[1].context.automaticallyMergesChangesFromParent = seed.isMultiple(of: 2)
  }

  var context: NSManagedObjectContext { here.context }
  var reference: ReferenceContext { here.reference }
  var isFirst: Bool { here === contexts[0] }
  var other: WalkedContext { isFirst ? contexts[1] : contexts[0] }

  func walk(steps: Int) throws {
    for number in 0..<steps {
      here = contexts[int(2)]
      log.append("[\(isFirst ? "A" : "B")]")
      try context.performAndWait {
        try step()
        reference.process()
        context.processPendingChanges()
        adoptRegistered()
        try compare()
      }
      if int(8) == 0 { try compareOther() }
      if number.isMultiple(of: 16) { try compareRest() }
    }
    try finish()
  }

  /// Resets the contexts and compares a new context with the saved objects.
  private func finish() throws {
    log.append("a cold context")
    for walked in contexts {
      walked.retained = [:]
      walked.unmerged = []
      walked.context.performAndWait { walked.context.reset() }
    }
    here = WalkedContext(bed.context(), ReferenceContext(over: store))
    try context.performAndWait {
      for root in WorkshopModel.sidesOfRoots.keys.sorted() {
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: root)) {
          try readAll(serial(object))
        }
      }
      adoptRegistered()
      try compare()
      let missing = Set(store.records.keys).subtracting(here.retained.keys)
      try expect(missing, [], "objects missing from a cold context")
    }
  }

  func int(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  /// The serial of a random object of the context that isn't deleted.
  func living(_ root: String? = nil) -> Int? {
    reference.living(root).randomElement(using: &random)
  }

  /// The context's object with a serial.
  func object(_ serial: Int) -> NSManagedObject {
    if let object = here.retained[serial] { return object }
    guard let id = ids[serial] else { preconditionFailure("serial \(serial) has no saved ID") }
    return context.object(with: id)
  }

  func serial(_ object: NSManagedObject) -> Int {
    serials[RowName(object)] ?? -1
  }

  func expect<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ what: @autoclosure () -> String
  ) throws {
    guard actual != expected else { return }
    let what = what()
    let serial = what.prefix(while: \.isNumber)
    // The operations on the object or on all objects, each with its context.
    var (history, marker): ([String], String) = ([], "")
    for line in log {
      if line.hasPrefix("[") {
        marker = line
      } else if line.split(whereSeparator: { !$0.isNumber }).contains(where: { $0 == serial })
        || !line.contains(where: \.isNumber)
      {
        history.append("\(marker) \(line);")
      }
    }
    throw Disagreement(
      description:
        "\(what): actual \(actual), expected \(expected); seed \(seed) on \(bed.kind), history: "
        + history.suffix(120).joined(separator: " ") + "; last: "
        + log.suffix(30).joined(separator: " "))
  }
}
