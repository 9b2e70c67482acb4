import Dispatch
import ManagedModel

/// Whether the use of contexts and objects off their queues is looked for, and ends the program.
///
/// On with the argument `-com.apple.CoreData.ConcurrencyDebug 1`, which is Apple's, or with
/// `CDPROF_CONCURRENCY_DEBUG=1` in the environment; asked once, before the first context is made. Off,
/// it costs nothing: that an object is watched is a bit beside the one that says that it is a fault.
enum QueueGuard {
  static let isOn = isAskedFor(
    CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_CONCURRENCY_DEBUG"])

  /// What the arguments and the variable ask for.
  static func isAskedFor(_ arguments: [String], _ variable: String?) -> Bool {
    if let flag = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"),
      arguments.indices.contains(flag + 1), Int(arguments[flag + 1]) ?? 0 > 0
    {
      return true
    }
    return Int(variable ?? "") ?? 0 > 0
  }
}

extension QueueGuard {
  /// The queue that asks, in words.
  fileprivate static var caller: String {
    if Thread.isMainThread { return "the main queue" }
    return DispatchQueue.getSpecific(key: NSManagedObjectContext.queueKey) == nil
      ? "a queue that is no context's" : "the queue of another context"
  }
}

extension NSManagedObjectContext {
  /// Traps when the queue is guarded and the caller is not on it.
  ///
  /// - Parameter object: the object that is used, for the sentence; nil for the context itself.
  @inline(__always)
  final func checkQueue(_ object: NSManagedObject? = nil) {
    if faultState.contains(.guarded), !isOnQueue { trapOffQueue(object) }
  }

  private func trapOffQueue(_ object: NSManagedObject?) -> Never {
    let name = name.map { "the context '\($0)'" } ?? "a context"
    let subject = object.map { "\($0.objectID.uriRepresentation()) of \(name)" } ?? name
    let own =
      concurrencyType == .mainQueueConcurrencyType ? "the main queue" : "a queue of its own"
    preconditionFailure(
      "\(subject) was used on \(QueueGuard.caller), and belongs to \(own): wrap the access in its "
        + "perform or performAndWait")
  }
}
