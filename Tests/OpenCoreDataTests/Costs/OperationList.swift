import CoreDataCosts
import OpenCoreData
import Synchronization
import Testing

/// The operations of a coordinator that were reported.
final class OperationList: Sendable {
  private let list = Mutex<[CoreDataOperation]>([])

  /// Observes the coordinator of a context, until the observation is released.
  static func observing(
    _ context: NSManagedObjectContext
  ) throws -> (operations: OperationList, observation: CoreDataObservation) {
    let coordinator = try #require(context.persistentStoreCoordinator)
    let operations = OperationList()
    return (operations, coordinator.observeOperations { operations.add($0) })
  }

  var all: [CoreDataOperation] { list.withLock { $0 } }

  /// Returns the reported operations, and removes them from the list.
  func take() -> [CoreDataOperation] {
    list.withLock { list in
      defer { list = [] }
      return list
    }
  }

  func add(_ operation: CoreDataOperation) {
    list.withLock { $0.append(operation) }
  }
}

extension CoreDataOperation {
  /// The operation and those in it, such as `fetch Mood 12 [statement Mood 12]`.
  var outline: String {
    var words = [kind.rawValue]
    if let entity { words.append([entity, relationship].compactMap { $0 }.joined(separator: ".")) }
    if let source { words.append(source.rawValue) }
    words.append("\(rows)")
    if executions != 1 { words.append("×\(executions)") }
    if let failure { words.append("!\(failure.code)") }
    if !operations.isEmpty {
      words.append("[\(operations.map(\.outline).joined(separator: ", "))]")
    }
    return words.joined(separator: " ")
  }
}
