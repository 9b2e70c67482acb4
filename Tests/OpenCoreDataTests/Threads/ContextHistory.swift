import OpenCoreData
import Testing

@testable import OpenCoreData

/// The random steps of one context, and what it saw.
struct ContextHistory {
  /// The keys of the registers, of which the last two are never deleted.
  static let keys = 0..<6

  private(set) var history = CommitHistory()
  private let number: Int
  private var random: SeededRandom
  private var next = 1

  /// - Parameters:
  ///   - number: A number of the context.
  ///   - round: The number of times that the context's process was started.
  init(number: Int, round: Int) {
    self.number = number
    random = SeededRandom(seed: UInt64(round * 1000 + number))
    next = round * 1_000_000
  }

  /// Reads the registers, or writes some of them in a transaction of its own.
  mutating func step(in context: NSManagedObjectContext) {
    do {
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<2: try readGeneration(in: context)
      case 2..<4: try read(in: context)
      case 4: try batchUpdate(in: context)
      case 5: try batchDelete(in: context)
      case 6: try batchInsert(in: context)
      case 7: try deleteEntries(in: context)
      case 8: try delete(in: context)
      default: try save(in: context)
      }
    } catch {
      Issue.record("context \(number): \(error)")
    }
    if Int.random(in: 0..<8, using: &random) == 0 { context.reset() }
  }

  // MARK: Saves

  /// Sets some registers, inserts those that don't exist, and inserts an entry.
  private mutating func save(in context: NSManagedObjectContext) throws {
    var write = begin(in: context)
    // An overwritten register has to exist.
    let overwrites = context.overwrites
    let keys = someKeys(of: overwrites ? Self.keys.suffix(2) : Self.keys)
    let registers = try fetch(keys, in: context)
    for key in keys {
      if let register = registers[key] {
        if !overwrites { write.replaced[key] = .some(register.read) }
        register.setValue(write.commit, forKey: "value")
      } else {
        write.replaced[key] = .some(nil)
        _ = context.make("Register", ["key": key, "row": write.commit, "value": write.commit])
      }
    }
    if overwrites { write.unread = keys }
    write.entries = 1
    _ = context.make("Entry", ["context": number])
    finishSave(write, in: context)
  }

  /// Deletes some registers.
  private mutating func delete(in context: NSManagedObjectContext) throws {
    guard !context.overwrites else { return }
    var write = begin(in: context)
    write.isDeletion = true
    for (key, register) in try fetch(someKeys(of: Self.keys.dropLast(2)), in: context) {
      write.replaced[key] = .some(register.read)
      context.delete(register)
    }
    guard !write.replaced.isEmpty else { return }
    finishSave(write, in: context)
  }

  /// Saves; a conflict discards the changes.
  private mutating func finishSave(
    _ write: CommitHistory.Write, in context: NSManagedObjectContext
  ) {
    var write = write
    do {
      try context.save()
    } catch let error as NSError {
      let conflicts = [NSManagedObjectMergeError, NSManagedObjectConstraintMergeError]
      #expect(conflicts.contains(error.code), "context \(number): \(error)")
      write.succeeded = false
      context.rollback()
      context.refreshAllObjects()
    }
    finish(write)
  }

  // MARK: Batch requests

  private mutating func batchUpdate(in context: NSManagedObjectContext) throws {
    var write = begin(in: context)
    write.unread = someKeys(of: Self.keys)
    let update = NSBatchUpdateRequest(entityName: "Register")
    update.predicate = request(for: write.unread).predicate
    update.propertiesToUpdate = ["value": write.commit]
    update.resultType = .updatedObjectIDsResultType
    let result = try context.execute(update) as? NSBatchUpdateResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    write.rows = ids.count
    finish(write)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
  }

  private mutating func batchDelete(in context: NSManagedObjectContext) throws {
    var write = begin(in: context)
    write.unread = someKeys(of: Self.keys.dropLast(2))
    write.isDeletion = true
    let ids = try delete("Register", request(for: write.unread).predicate, in: context)
    write.rows = ids.count
    finish(write)
  }

  /// Deletes the context's entries.
  private mutating func deleteEntries(in context: NSManagedObjectContext) throws {
    var write = begin(in: context)
    write.entries = nil
    let ids = try delete("Entry", NSPredicate(format: "context == %ld", number), in: context)
    write.rows = ids.count
    finish(write)
  }

  private func delete(
    _ entity: String, _ predicate: NSPredicate?, in context: NSManagedObjectContext
  ) throws -> [NSManagedObjectID] {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
    fetch.predicate = predicate
    let delete = NSBatchDeleteRequest(fetchRequest: fetch)
    delete.resultType = .resultTypeObjectIDs
    let result = try context.execute(delete) as? NSBatchDeleteResult
    let ids = try #require(result?.result as? [NSManagedObjectID])
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
    return ids
  }

  /// Inserts some entries.
  private mutating func batchInsert(in context: NSManagedObjectContext) throws {
    var write = begin(in: context)
    let count = Int.random(in: 1...3, using: &random)
    write.entries = count
    let insert = NSBatchInsertRequest(
      entityName: "Entry", objects: Array(repeating: ["context": number], count: count))
    insert.resultType = .count
    let result = try context.execute(insert) as? NSBatchInsertResult
    write.rows = try #require(result?.result as? Int)
    finish(write)
  }

  // MARK: Reads

  /// Reads the registers and the number of entries of one generation, in several requests.
  private mutating func readGeneration(in context: NSManagedObjectContext) throws {
    let begin = CommitHistory.now()
    try context.setQueryGenerationFrom(.current)
    let first = try registers(in: context)
    let entries = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Entry"))
    let end = CommitHistory.now()
    usleep(500)
    #expect(try registers(in: context) == first, "context \(number): a generation changed")
    try context.setQueryGenerationFrom(nil)
    history.reads.append(
      CommitHistory.Read(
        context: number, begin: begin, end: end, registers: first, entryCount: entries))
  }

  private mutating func read(in context: NSManagedObjectContext) throws {
    let begin = CommitHistory.now()
    let registers = try registers(in: context)
    history.reads.append(
      CommitHistory.Read(
        context: number, begin: begin, end: CommitHistory.now(), registers: registers,
        entryCount: nil))
  }

  /// The values of one request, without registered objects.
  private func registers(
    in context: NSManagedObjectContext
  ) throws -> [Int: CommitHistory.Register] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Register")
    request.resultType = .dictionaryResultType
    let rows = try context.fetch(request)
    return rows.reduce(into: [:]) { result, row in
      result[row["key"] as? Int ?? -1] = CommitHistory.Register(
        row: row["row"] as? Int ?? -1, value: row["value"] as? Int ?? -1)
    }
  }

  // MARK: Steps

  private mutating func begin(in context: NSManagedObjectContext) -> CommitHistory.Write {
    next += 1
    let commit = number * 1_000_000_000 + next
    context.transactionAuthor = "\(commit)"
    return CommitHistory.Write(commit: commit, context: number, begin: CommitHistory.now())
  }

  private mutating func finish(_ write: CommitHistory.Write) {
    var write = write
    write.end = CommitHistory.now()
    history.writes.append(write)
  }

  private mutating func someKeys(of keys: some Sequence<Int>) -> [Int] {
    Array(keys.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
  }

  /// The registers that exist, by key.
  private func fetch(
    _ keys: [Int], in context: NSManagedObjectContext
  ) throws -> [Int: NSManagedObject] {
    try context.fetch(request(for: keys)).reduce(into: [:]) { result, register in
      // The values are nil if another context has deleted the row since.
      if let key = register.value(forKey: "key") as? Int { result[key] = register }
    }
  }

  private func request(for keys: [Int]) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Register")
    request.predicate = NSPredicate(format: "key IN %@", keys)
    return request
  }
}

extension NSManagedObject {
  fileprivate func number(_ key: String) -> Int { value(forKey: key) as? Int ?? -1 }

  /// The values of a register.
  fileprivate var read: CommitHistory.Register {
    CommitHistory.Register(row: number("row"), value: number("value"))
  }
}

extension NSManagedObjectContext {
  /// Whether the merge policy overwrites what other contexts have saved.
  fileprivate var overwrites: Bool {
    (mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType
  }
}
