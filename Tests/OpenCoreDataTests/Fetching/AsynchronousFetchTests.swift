import OpenCoreData
import ProfileEvents
import SQLiteDriver
import Testing

@testable import OpenCoreData

@Suite("Asynchronous fetches")
struct AsynchronousFetchTests {
  private func store(
    _ kind: StoreKind, count: Int
  ) throws -> (GraphStack, NSManagedObjectContext) {
    let stack = try GraphStack(kind, model: TestModels.company())
    let writer = try stack.context()
    try writer.performAndWait {
      for index in 0..<count {
        let employee = NSEntityDescription.insertNewObject(
          forEntityName: "Employee", into: writer)
        employee.setValue(String(format: "e%05d", index), forKey: "name")
      }
      try writer.save()
    }
    return (stack, try stack.context())
  }

  private func request() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  /// Executes a request and waits for its result.
  private func run(
    _ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>,
    estimate: Int = 0,
    _ begun: @escaping @Sendable (NSAsynchronousFetchResult<NSManagedObject>) -> Void = { _ in }
  ) async throws -> NSAsynchronousFetchResult<NSManagedObject> {
    nonisolated(unsafe) let request = request
    return try await withCheckedThrowingContinuation { continuation in
      context.perform {
        let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) {
          continuation.resume(returning: $0)
        }
        asynchronous.estimatedResultCount = estimate
        do {
          let result = try context.execute(asynchronous)
          guard let result = result as? NSAsynchronousFetchResult<NSManagedObject> else { return }
          #expect(result.finalResult == nil)
          begun(result)
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  @Test(
    "S6.38 execute returns before the callback, which receives fetch's result, with one SELECT",
    arguments: StoreKind.allCases)
  func asynchronousFetchReturnsTheResultOfFetch(kind: StoreKind) async throws {
    let (stack, context) = try store(kind, count: 450)
    context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
    }
    let result = try await run(context, request(), estimate: 450)
    try context.performAndWait {
      #expect(result.operationError == nil)
      #expect(context.counters.selects == stack.statements(1))
      #expect(context.counters.fetches == 1)
      #expect(result.finalResult?.count == 451)
      let fetched = try context.fetch(request())
      #expect(fetched == result.finalResult)
      #expect(result.progress?.completedUnitCount == 451)
    }
  }

  @Test("Unsaved changes are merged before the offset and the limit", arguments: [false, true])
  func limitsApplyToMergedChanges(changesWhileItRuns: Bool) async throws {
    let (_, context) = try store(.sqlite, count: 9)
    @Sendable func change() {
      let first = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      first.setValue("a", forKey: "name")
    }
    if !changesWhileItRuns { context.performAndWait { change() } }
    let page = request()
    (page.fetchOffset, page.fetchLimit) = (2, 3)
    let result = try await run(context, page) { _ in if changesWhileItRuns { change() } }
    context.performAndWait {
      let names = result.finalResult?.map { $0.value(forKey: "name") as? String }
      #expect(names == ["e00001", "e00002", "e00003"])
    }
  }

  @Test("A page is full even if more objects are deleted while the fetch runs")
  func pageIsFullAfterDeletionsWhileItRuns() async throws {
    let (stack, context) = try store(.sqlite, count: 9)
    // Its file is opened once more while the fetch runs.
    defer { withExtendedLifetime(stack) {} }
    context.performAndWait {
      let first = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
      first.setValue("a", forKey: "name")
    }
    let page = request()
    page.fetchLimit = 3
    let result = try await run(context, page) { _ in
      do {
        for object in try context.fetch(request()).dropFirst().prefix(2) { context.delete(object) }
      } catch {
        Issue.record(error)
      }
    }
    context.performAndWait {
      let names = result.finalResult?.map { $0.value(forKey: "name") as? String }
      #expect(names == ["a", "e00002", "e00003"])
    }
  }

  @Test("S6.38 S-C28 a canceled fetch returns only error 3072")
  func canceledFetchReturnsOnlyAnError() async throws {
    let (stack, context) = try store(.sqlite, count: 20)
    // An expensive regular expression for every pair of employees: the fetch would take too long.
    let request = request()
    request.predicate = NSPredicate(format: "ANY department.employees.name MATCHES '.*(x+x+)+y'")
    let connection = try Connection(path: stack.storeURL.path, access: .writing)
    try connection.execute("INSERT INTO ZDEPARTMENT(Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
    let name = String(repeating: "x", count: 26)
    try connection.execute("UPDATE ZEMPLOYEE SET ZDEPARTMENT = 1, ZNAME = '\(name)'")
    connection.close()
    let result = try await run(context, request) { $0.cancel() }
    context.performAndWait {
      #expect(result.finalResult == nil)
      let code = result.operationError.map { ($0 as NSError).code }
      #expect(code == CocoaError.Code.userCancelled.rawValue)
      #expect(context.registeredObjects.isEmpty)
    }
    #expect(result.progress?.isCancelled == true && result.progress?.completedUnitCount == 0)
    // Canceling doesn't affect the next fetch.
    let next = try await run(context, self.request())
    context.performAndWait {
      #expect(next.finalResult?.count == 20 && next.operationError == nil)
    }
  }

  @Test("S-C28 progress counts the rows; an error is in the result")
  func progressCountsRowsAndErrorsAreReturned() async throws {
    let (_, context) = try store(.sqlite, count: 450)
    let result = try await run(context, request())
    #expect(result.progress?.totalUnitCount == 450)
    let wrong = request()
    wrong.predicate = NSPredicate(block: { _, _ in true })
    let failed = try await run(context, wrong)
    let code = failed.operationError.map { ($0 as NSError).code }
    #expect(failed.finalResult == nil && code == NSCoreDataError)
  }
}
