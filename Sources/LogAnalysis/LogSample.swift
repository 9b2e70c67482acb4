/// Lines of a log that have the same text: the first, and how many.
package struct LogSample: Sendable, Equatable {
  /// Where it stands first, counted from 1.
  package var line: Int
  package var logClass: LogClass
  package var text: String
  package var count: Int
}

/// Samples in the order of first appearance, no more of them than a reader looks at.
struct LogSamples {
  private(set) var all: [LogSample] = []
  private var places: [String: Int] = [:]
  let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  mutating func add(_ message: LogMessage) {
    // Addresses differ from line to line of one kind; a long text need not be kept whole.
    let text = LogBytes(message.text.bytes.prefix(2_000)).string
    if let place = places[text] {
      all[place].count += 1
    } else if all.count < limit {
      places[text] = all.count
      all.append(
        LogSample(line: message.line, logClass: message.logClass, text: text, count: 1))
    }
  }
}
