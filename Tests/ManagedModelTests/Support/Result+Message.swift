import Testing

extension ExitTest.Result? {
  /// The standard error of the process, which contains the message it stopped with.
  var message: String {
    self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
  }
}
