import ManagedModel
import ProfileEvents
import SQLiteDriver

// Events of what fails are only for sinks that require them: no count includes them.

extension ProfileScope {
  /// Ends an event that failed.
  ///
  /// It's emitted as a failure if a sink requires failures; otherwise, it's discarded.
  /// - Parameters:
  ///   - open: The event.
  ///   - error: Its error.
  ///   - complete: Adds the values that are known.
  func fail(
    _ open: OpenEvent?, _ error: any Error, _ complete: (inout Event) -> Void = { _ in }
  ) {
    guard demand.includes(.failures) else { return abandon(open) }
    end(open) { event in
      event.failure = .operation(event.kind, FailureCode(error))
      event.kind = .failure
      complete(&event)
    }
  }

  /// Runs a body that precedes an event, and reports a failure of this kind if it throws and a sink
  /// requires failures.
  func reportingFailure<R>(of kind: EventKind, _ body: () throws -> R) throws -> R {
    let begin = demand.isListening ? MonotonicClock.now() : 0
    do {
      return try body()
    } catch {
      if demand.includes(.failures) {
        emit(.failure) { event in
          event.failure = .operation(kind, FailureCode(error))
          (event.begin, event.duration) = (begin, event.begin &- begin)
        }
      }
      throw error
    }
  }
}

extension FailureCode {
  /// Creates the identification of an error in an event, without its message, paths, and values.
  init(_ error: any Error) {
    if let error = error as? SQLiteError {
      let code = Int(error.code.rawValue)
      self.init(domain: NSSQLiteErrorDomain, code: code, resultCode: code)
    } else {
      let error = error as NSError
      self.init(
        domain: error.domain, code: error.code,
        resultCode: error.userInfo[NSSQLiteErrorDomain] as? Int)
    }
  }
}
