import Dispatch

/// A serial queue that knows whether the caller runs on it.
struct CoordinatorQueue: Sendable {
  let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
  private let key = DispatchSpecificKey<Bool>()

  init() {
    queue.setSpecific(key: key, value: true)
  }

  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: key) == true
  }
}
