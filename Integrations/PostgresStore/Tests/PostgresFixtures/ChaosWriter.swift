import Foundation
package import OpenCoreData
import PostgresStore

/// A context that saves, changes, deletes, and reads at random, until it's told to stop, and notes
/// what it was told.
package final class ChaosWriter {
  private let context: NSManagedObjectContext
  private let journal: ChaosJournal
  private let writer: Int
  private var generator: SeededGenerator
  /// The states of the groups; nil for one that must be read, because its last save has an unknown
  /// outcome.
  private var groups: [Int: Int?] = [:]
  private var lastNumber = 0

  private static let deleted = 0
  private static let longestPause = 0.02

  /// Creates a writer with a number of its own.
  package init(
    _ writer: Int, _ context: NSManagedObjectContext, _ journal: ChaosJournal
  ) {
    (self.writer, self.context, self.journal) = (writer, context, journal)
    generator = SeededGenerator(seed: UInt64(writer))
  }

  /// Runs until a condition is true.
  package func run(until isDone: () -> Bool) {
    while !isDone() {
      context.performAndWait { step() }
      Thread.sleep(forTimeInterval: .random(in: 0...Self.longestPause, using: &generator))
    }
    context.performAndWait { _ = readGroups() }
  }

  private func step() {
    if groups.values.contains(where: { $0 == nil }), !readGroups() { return }
    let known = groups.compactMap { number, state in state.map { (number, $0) } }
      .filter { $0.1 != Self.deleted }.sorted { $0.0 < $1.0 }
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...2: insertGroup()
    case 3, 4:
      if let (number, state) = known.randomElement(using: &generator) {
        change(number, from: state, to: state + 1)
      }
    case 5:
      if known.count > 20, let (number, state) = known.randomElement(using: &generator) {
        change(number, from: state, to: Self.deleted)
      }
    case 6, 7: increaseCounter()
    case 8: replaceNote()
    default: _ = readGroups()
    }
  }

  // MARK: Saving

  private func insertGroup() {
    lastNumber += 1
    let number = lastNumber
    let counter: NSManagedObject
    do {
      counter = try self.counter()
    } catch {
      return noteUnread(error)
    }
    for part in 0..<ChaosModel.groupSize {
      let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
      entry.setValue("\(writer)-\(number)-\(part)", forKey: "name")
      entry.setValue(writer, forKey: "writer")
      entry.setValue(number, forKey: "number")
      entry.setValue(1, forKey: "state")
      entry.setValue(counter, forKey: "counter")
    }
    save(.group(number: number, state: 1), before: Self.deleted, attempts: 5)
  }

  private func change(_ number: Int, from old: Int, to new: Int) {
    let entries: [NSManagedObject]
    do {
      entries = try self.entries("number == %ld", number)
    } catch {
      return noteUnread(error)
    }
    guard entries.count == ChaosModel.groupSize, entries.allSatisfy({ state($0) == old }) else {
      return journal.note(
        .violation("group \(number) is \(entries.map { state($0) }), not \(old)"))
    }
    for entry in entries {
      if new == Self.deleted { context.delete(entry) } else { entry.setValue(new, forKey: "state") }
    }
    save(.group(number: number, state: new), before: old, attempts: 2)
  }

  private func increaseCounter() {
    do {
      let counter = try self.counter()
      let value = (counter.value(forKey: "value") as? NSNumber)?.intValue ?? 0
      counter.setValue(value + 1, forKey: "value")
      save(.counter(counter.value(forKey: "name") as? String ?? ""), before: nil, attempts: 1)
    } catch {
      noteUnread(error)
    }
  }

  /// Changes another attribute than `increaseCounter`, whatever others have saved since.
  private func replaceNote() {
    do {
      let counter = try self.counter()
      Thread.sleep(forTimeInterval: .random(in: 0...Self.longestPause, using: &generator))
      counter.setValue("\(writer)", forKey: "note")
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      save(.note(counter.value(forKey: "name") as? String ?? ""), before: nil, attempts: 2)
      context.mergePolicy = NSMergePolicy.error
    } catch {
      noteUnread(error)
    }
  }

  /// Saves, and again if that fails, then discards the changes.
  private func save(_ change: ChaosJournal.Change, before: Int?, attempts: Int) {
    for _ in 0..<attempts {
      journal.note(.begin(change))
      do {
        try context.save()
        journal.note(.saved)
        if case .group(let number, let state) = change { groups[number] = state }
        return
      } catch {
        let failure = error as NSError
        let isKnown = failure.userInfo[PostgresUnknownOutcomeErrorKey] == nil
        journal.note(.failed(domain: failure.domain, code: failure.code, isKnown: isKnown))
        if !isKnown {
          if case .group(let number, _) = change { groups[number] = .some(nil) }
          return context.reset()
        }
      }
      Thread.sleep(forTimeInterval: .random(in: 0...0.5, using: &generator))
    }
    if case .group(let number, _) = change { groups[number] = before }
    context.rollback()
  }

  // MARK: Reading

  /// Reads all groups, compares them with what was saved, and learns the outcome of saves with an
  /// unknown one.
  ///
  /// - Returns: Whether they were read.
  private func readGroups() -> Bool {
    var found: [Int: [Int]] = [:]
    do {
      for entry in try entries("writer == %ld", writer) {
        found[(entry.value(forKey: "number") as? NSNumber)?.intValue ?? 0, default: []]
          .append(state(entry))
      }
    } catch {
      noteUnread(error)
      return false
    }
    for (number, expected) in groups {
      let states = found[number] ?? []
      let state = states.first ?? Self.deleted
      let isWhole = states.isEmpty || states == Array(repeating: state, count: ChaosModel.groupSize)
      if !isWhole || expected.map({ $0 != state }) ?? false {
        let text = "group \(number) is \(states), not \(expected.map { "\($0)" } ?? "known")"
        journal.note(.violation(text))
      }
      if expected == nil {
        journal.note(.found(number: number, state: state))
        groups[number] = state
      }
    }
    for number in found.keys where groups[number] == nil {
      journal.note(.violation("group \(number) was never saved"))
    }
    return true
  }

  private func entries(_ format: String, _ value: Int) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      NSPredicate(format: format, value), NSPredicate(format: "writer == %ld", writer),
    ])
    request.returnsObjectsAsFaults = false
    request.shouldRefreshRefetchedObjects = true
    return try context.fetch(request)
  }

  /// Reads one of the counters, whose row others may have changed.
  private func counter() throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
    let name = ChaosModel.counters.randomElement(using: &generator) ?? ""
    request.predicate = NSPredicate(format: "name == %@", name)
    request.returnsObjectsAsFaults = false
    request.shouldRefreshRefetchedObjects = true
    guard let counter = try context.fetch(request).first else {
      journal.note(.violation("the counter \(name) is missing"))
      throw CocoaError(.fileNoSuchFile)
    }
    return counter
  }

  private func state(_ entry: NSManagedObject) -> Int {
    (entry.value(forKey: "state") as? NSNumber)?.intValue ?? -1
  }

  private func noteUnread(_ error: any Error) {
    let failure = error as NSError
    journal.note(.unread(domain: failure.domain, code: failure.code))
  }
}
