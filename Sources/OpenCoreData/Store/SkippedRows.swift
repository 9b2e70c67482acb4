import Synchronization

/// Rows that no object can be of, for whoever looks at a store and wants to see the others.
///
/// Given as an option when a store is opened, it makes reads pass over rows of an unknown entity and
/// rows with a key below 1, and notes them. Without it such a row fails the read: a program that got
/// the others alone could take it for deleted. Any thread may ask.
package final class SkippedRows: Sendable {
  /// The key of the option, whose value is an instance of this class.
  package static let option = "cdprof.SkippedRows"

  /// More are not kept.
  private static let most = 1_000

  private struct State {
    var seen: Set<String> = []
    var errors: [NSError] = []
  }

  private let state = Mutex(State())

  /// Makes an empty list.
  package init() {}

  /// What was passed over since the last call, each row once, in the order of reading.
  package func take() -> [NSError] {
    state.withLock { state in
      defer { state = State() }
      return state.errors
    }
  }

  /// Notes a row; false for an error that is not about a row.
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
