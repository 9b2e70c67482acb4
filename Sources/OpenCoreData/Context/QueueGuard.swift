import ManagedModel
import ProfileEvents

/// Whether the use of contexts and objects off their queues is looked for, and ends the program.
///
/// On with the argument `-com.apple.CoreData.ConcurrencyDebug 1`, which is Apple's, or with
/// `CDPROF_CONCURRENCY_DEBUG=1` in the environment; asked once, before the first context is made. Off,
/// it costs nothing: that an object is watched is a bit beside the one that says that it is a fault.
enum QueueGuard {
  static let isOn: Bool = {
    let isOn = isAskedFor(
      CommandLine.arguments, ProcessInfo.processInfo.environment["CDPROF_CONCURRENCY_DEBUG"])
    if isOn { SQLDebugLog.writeToStandardError(announcement) }
    return isOn
  }()

  /// Apple's line, once in a program's life.
  static let announcement =
    "CoreData: annotation: Core Data multi-threading assertions enabled."

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

extension NSManagedObjectContext {
  /// Traps when the queue is guarded and the caller is not on it.
  ///
  /// - Parameter object: The object that was used, for the sentence.
  @inline(__always)
  final func checkQueue(of object: NSManagedObject? = nil) {
    if faultState.contains(.guarded), !isOnQueue { trapOffQueue(object) }
  }

  private func trapOffQueue(_ object: NSManagedObject?) -> Never {
    let used = object.map { "\($0.objectID) of \(guardedName)" } ?? guardedName
    let thread =
      Thread.isMainThread ? "the main thread" : "thread \(MonotonicClock.threadID())"
    let place = RunningContext.current.map { "the queue of \($0.guardedName)" } ?? thread
    preconditionFailure(
      "\(used) was used on \(place), not on \(ownQueue): wrap the access in its perform or "
        + "performAndWait")
  }

  private var guardedName: String {
    name.map { "the context '\($0)'" } ?? "a context without a name"
  }

  private var ownQueue: String {
    concurrencyType == .mainQueueConcurrencyType ? "the main queue" : "its own queue"
  }
}
