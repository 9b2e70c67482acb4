import OpenCoreData

@testable import OpenCoreData

/// A context of a random walk and its expected state.
final class WalkedContext {
  let context: NSManagedObjectContext
  let reference: ReferenceContext
  /// Objects that the walk retains; the context can deregister others.
  var retained: [Int: NSManagedObject] = [:]
  /// Objects that had left the context when a to-one referred to them.
  var left: Set<Int> = []
  /// Saves of the other context that this context hasn't merged.
  var unmerged: [(note: Notification, saved: ReferenceContext.Note)] = []
  /// The last did-save notification of this context.
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

/// Identifies the row of an object.
struct RowName: Hashable {
  let rootIndex: Int
  let primaryKey: Int64

  init(_ object: NSManagedObject) {
    rootIndex = object.layout.rootIndex
    primaryKey = object.primaryKey
  }
}

/// A difference between the framework and the reference.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}
