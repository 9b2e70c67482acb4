package import OpenCoreData
import SQLiteDriver
import Synchronization

/// Asks a running step to stop before its next object.
///
/// Any thread may ask. A running statement is interrupted where its failure can be reported; that of a fault which
/// a changing step fires runs to its end, as a fault whose SELECT failed has no value to give.
package final class StepInterruption: Sendable {
  private let isAsked = Atomic(false)
  /// Cuts off the statement that runs now.
  private let cut = Mutex<(@Sendable () -> Void)?>(nil)

  package init() {}

  /// The code of the error that an interrupted step fails with, which is Apple's for a cancelled one.
  package static let code = CocoaError.Code.userCancelled.rawValue

  /// Asks the step that runs to stop.
  package func ask() {
    isAsked.store(true, ordering: .relaxed)
    cut.withLock { $0?() }
  }

  /// Runs work whose statements can be interrupted.
  ///
  /// - Parameter cut: cuts it off, from any thread; harmless when no statement runs.
  package func cutting<Result>(
    _ cut: @escaping @Sendable () -> Void, _ body: () throws -> Result
  ) rethrows -> Result {
    self.cut.withLock { $0 = cut }
    defer { self.cut.withLock { $0 = nil } }
    return try body()
  }

  /// Whether an error says that work was interrupted, between two objects or in a statement.
  package static func isBehind(_ error: NSError) -> Bool {
    error.code == code || error.isInterruptedStatement
      || (error.domain == NSSQLiteErrorDomain
        && error.code == Int(ResultCode.interrupt.rawValue))
  }

  /// Forgets what was asked before.
  package func clear() {
    isAsked.store(false, ordering: .relaxed)
  }

  /// Goes on, or stops the step.
  ///
  /// - Throws: an `NSError` with `code` when the step is to stop.
  package func check() throws {
    guard isAsked.load(ordering: .relaxed) else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: StepInterruption.code,
      userInfo: [NSLocalizedDescriptionKey: "It was interrupted; what it did until then stays."])
  }
}
