import Glibc
import Testing

@testable import OpenCoreData

/// A process that changes its own rows of a store, which others change as well, until it kills
/// itself.
///
/// Its operations follow from a seed, so that after it's killed, its rows must be those after as
/// many operations as returned, or one more.
struct KilledWriter: Codable, Sendable {
  /// The rows that one operation inserted: all of them have the same value.
  struct Group: Equatable, Codable, Sendable {
    var count: Int
    var value: Int
  }

  enum Operation: CaseIterable {
    case insert, batchInsert, update, batchUpdate, delete, batchDelete, reopen
  }

  /// The number of the writer, which its rows have.
  let writer: Int
  /// The process of this writer, from 1.
  let incarnation: Int
  /// The store's type; a document is written as a whole, and by one process.
  let isDocument: Bool
  /// Its rows, by the number of the operation that inserted them.
  private(set) var groups: [Int: Group] = [:]
  private var next = 1

  init(writer: Int, incarnation: Int, isDocument: Bool, groups: [Int: Group]) {
    (self.writer, self.incarnation, self.isDocument) = (writer, incarnation, isDocument)
    self.groups = groups
  }

  /// What the next operation does, and to which rows.
  struct Step {
    let operation: Operation
    /// The operation whose rows are changed; the new rows' own for an insertion.
    let group: Int
    let count: Int
    let value: Int
  }

  /// Returns the next step, and changes the rows as it does.
  mutating func advance() -> Step {
    let number = incarnation * 100_000 + next
    next += 1
    var random = SeededRandom(seed: UInt64(writer) << 40 | UInt64(number))
    let target = groups.keys.sorted().randomElement(using: &random)
    let possible = Operation.allCases.filter {
      !isDocument || ![.batchInsert, .batchUpdate, .batchDelete].contains($0)
    }
    var operation = possible.randomElement(using: &random) ?? .insert
    // About as many rows are inserted as deleted.
    if groups.count > 12, operation == .insert || operation == .batchInsert { operation = .delete }
    let count = Int.random(in: 1...30, using: &random)
    switch (operation, target) {
    case (.reopen, _): return Step(operation: .reopen, group: 0, count: 0, value: 0)
    case (.update, let target?), (.batchUpdate, let target?):
      groups[target]?.value = number
      return Step(
        operation: operation, group: target, count: groups[target]?.count ?? 0, value: number)
    case (.delete, let target?), (.batchDelete, let target?):
      groups[target] = nil
      return Step(operation: operation, group: target, count: 0, value: 0)
    default:
      groups[number] = Group(count: count, value: number)
      let isBatch = operation == .batchInsert
      return Step(
        operation: isBatch ? .batchInsert : .insert, group: number, count: count, value: number)
    }
  }

  // MARK: In the process that's killed

  /// Performs steps until the process is killed; notes the number of each that returned.
  ///
  /// The first process of a writer isn't killed before its first step returned.
  mutating func run(_ store: KilledStore) throws {
    let note = open(store.note(of: writer).path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644)
    var context = try store.open()
    var random = SeededRandom(seed: UInt64(writer) << 40 | UInt64(incarnation))
    let delay = UInt32.random(in: 0...60_000, using: &random)
    if incarnation > 1 { Self.die(after: delay) }
    while true {
      let step = advance()
      if step.operation == .reopen {
        StoreWork.close(context)
        context = try store.open()
      } else {
        try context.performAndWait { try perform(step, in: context) }
      }
      _ = write(note, "+", 1)
      if incarnation == 1, next == 2 { Self.die(after: delay) }
    }
  }

  private func perform(_ step: Step, in context: NSManagedObjectContext) throws {
    let rows = NSPredicate(format: "b == %d AND a == %d", writer, step.group)
    let values: [String: Any] = ["a": step.group, "b": writer, "c": step.value]
    switch step.operation {
    case .insert:
      for _ in 0..<step.count { _ = context.make("Item", values) }
      try context.save()
    case .update, .delete:
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = rows
      for object in try context.fetch(request) {
        if step.operation == .delete {
          context.delete(object)
        } else {
          object.setValue(step.value, forKey: "c")
        }
      }
      try context.save()
    case .batchInsert:
      _ = try context.execute(
        NSBatchInsertRequest(
          entityName: "Item", objects: Array(repeating: values, count: step.count)))
    case .batchUpdate:
      let request = NSBatchUpdateRequest(entityName: "Item")
      (request.predicate, request.propertiesToUpdate) = (rows, ["c": step.value])
      _ = try context.execute(request)
    case .batchDelete:
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      fetch.predicate = rows
      _ = try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
    case .reopen: break
    }
    context.reset()
  }

  private static func die(after delay: UInt32) {
    Thread.detachNewThread {
      usleep(delay)
      _ = Glibc.kill(getpid(), SIGKILL)
    }
  }
}
