/// What one line of a log says, with the lines that continue it.
struct LogMessage {
  /// The line it begins on, counted from 1.
  var line: Int
  var logClass: LogClass
  /// Behind the class, without blanks at its ends.
  var text: LogBytes
  /// As the log has it; empty where it has none.
  var time: LogTime
  /// What tells one thread's lines from another's; empty where the log does not say.
  var lane: String
  /// Lines that continue it.
  var continued = 0
  /// Brackets that the lines so far have opened and not closed.
  var brackets: Int
  /// Lines of others that came since, while it waited for its end.
  var passed = 0

  init(line: Int, logClass: LogClass, text: LogBytes, time: LogTime, lane: String) {
    self.line = line
    self.logClass = logClass
    self.text = text
    self.time = time
    self.lane = lane
    brackets = LogMessage.balance(text)
  }
}
