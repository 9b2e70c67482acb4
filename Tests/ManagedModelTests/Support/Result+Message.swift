import Testing

extension ExitTest.Result? {
  /// What the process wrote to standard error: the message of the trap that ended it.
  var message: String {
    self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
  }
}
