import OpenCoreData
import Synchronization

/// Asks a running step to stop before its next object.
///
/// Any thread may ask. A statement that runs is not cut off: a fault whose SELECT failed has no value to give.
package final class StepInterruption: Sendable {
  private let isAsked = Atomic(false)

  package init() {}

  /// The code of the error that an interrupted step fails with, which is Apple's for a cancelled one.
  package static let code = CocoaError.Code.userCancelled.rawValue

  /// Asks the step that runs to stop.
  package func ask() {
    isAsked.store(true, ordering: .relaxed)
  }

  /// Forgets what was asked before.
  package func clear() {
    isAsked.store(false, ordering: .relaxed)
  }

  /// Goes on, or stops the step.
  ///
  /// - Throws: an `NSError` with `code` when the step is to stop.
  func check() throws {
    guard isAsked.load(ordering: .relaxed) else { return }
    throw NSError(
      domain: NSCocoaErrorDomain, code: StepInterruption.code,
      userInfo: [NSLocalizedDescriptionKey: "It was interrupted; what it did until then stays."])
  }
}
