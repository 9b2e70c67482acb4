import OpenCoreData

@testable import OpenCoreData

/// A context of a random walk beside what the reference says of it.
final class WalkedContext {
  let context: NSManagedObjectContext
  let reference: ReferenceContext
  /// Objects that the walk holds on to; the others the context may let go.
  var held: [Int: NSManagedObject] = [:]
  /// Saves of others that this context has not merged.
  var unmerged: [(note: Notification, saved: ReferenceContext.Note)] = []
  /// The last did-save of this context.
  private(set) var lastSave: Notification?
  private var token: (any NSObjectProtocol)?

  init(_ context: NSManagedObjectContext, _ reference: ReferenceContext) {
    self.context = context
    self.reference = reference
    nonisolated(unsafe) weak let walked = self
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { walked?.lastSave = $0 }
  }

  deinit {
    token.map(NotificationCenter.default.removeObserver)
  }
}

/// Which row an object stands for, whatever has become of it.
struct RowName: Hashable {
  let rootIndex: Int
  let primaryKey: Int64

  init(_ object: NSManagedObject) {
    rootIndex = object.layout.rootIndex
    primaryKey = object.primaryKey
  }
}

/// Where the framework and the reference part.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}
