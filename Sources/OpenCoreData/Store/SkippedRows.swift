import Synchronization

/// The unmappable rows of a store, for tools that inspect its other rows.
///
/// Passed as an option when a store is opened, it makes reads skip and record rows of an unknown
/// entity and rows with a key below 1. Without it, such a row fails the read: a program that got only
/// the other rows could assume that it was deleted. Any thread may use it.
package final class SkippedRows: Sendable {
  /// The key of the option, whose value is an instance of this class.
  package static let option = "cdprof.SkippedRows"

  /// The maximum number of recorded rows.
  private static let most = 1_000

  private struct State {
    var seen: Set<String> = []
    var errors: [NSError] = []
  }

  private let state = Mutex(State())

  /// Creates an empty list.
  package init() {}

  /// Returns the rows skipped since the last call, each once, in the order of reading.
  package func take() -> [NSError] {
    state.withLock { state in
      defer { state = State() }
      return state.errors
    }
  }

  /// Records a row; returns `false` for an error that isn't about a row.
  func note(_ error: any Error) -> Bool {
    let error = error as NSError
    guard error.domain == NSCocoaErrorDomain,
      error.code == CocoaError.Code.fileReadCorruptFile.rawValue
    else { return false }
    state.withLock { state in
      guard state.seen.count < SkippedRows.most,
        state.seen.insert(error.localizedDescription).inserted
      else { return }
      state.errors.append(error)
    }
    return true
  }
}
