package import OpenCoreData
import SQLiteDriver
import Synchronization

/// Interrupts a running step before its next object.
///
/// You can use it from any thread. A running statement is interrupted only if its failure can be
/// reported. The SELECT of a fault that a changing step fires runs to completion, because the fault
/// would have no values if it failed.
package final class StepInterruption: Sendable {
  private let isAsked = Atomic(false)
  /// A closure that interrupts the running statement.
  private let cut = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// The code of the error of an interrupted step, which is Apple's code for user cancellation.
  package static let code = CocoaError.Code.userCancelled.rawValue

  /// Requests that the running step stop.
  package func ask() {
    isAsked.store(true, ordering: .relaxed)
    cut.withLock { $0?() }
  }

  /// Runs work whose statements can be interrupted.
  ///
  /// - Parameters:
  ///   - cut: A closure that interrupts the running statement. It can be called from any thread,
  ///     and has no effect if no statement is running.
  ///   - body: The work.
  package func cutting<Result>(
    _ cut: @escaping @Sendable () -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    self.cut.withLock { $0 = cut }
    defer { self.cut.withLock { $0 = nil } }
    return try body()
  }

  /// Returns whether an error indicates an interruption, between two objects or in a statement.
  package static func isBehind(_ error: NSError) -> Bool {
    error.code == code || error.isInterruptedStatement
      || (error.domain == NSSQLiteErrorDomain
        && error.code == Int(ResultCode.interrupt.rawValue))
  }

  /// Clears earlier requests to stop.
  package func clear() {
    isAsked.store(false, ordering: .relaxed)
  }

  /// Checks for a request to stop the step.
  ///
  /// - Throws: An `NSError` with `code` if the step should stop.
  package func check() throws {
    guard isAsked.load(ordering: .relaxed) else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: StepInterruption.code,
      userInfo: [NSLocalizedDescriptionKey: "The step was interrupted. Its changes so far remain."])
  }
}
