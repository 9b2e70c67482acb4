package import Foundation

/// What a context did, and what it was told: a line for each event, which is on the disk before the
/// next one.
///
/// Used by one thread.
package final class ChaosJournal {
  /// A change of one save.
  package enum Change: Hashable {
    /// The group has a state; 0 if it was deleted.
    case group(number: Int, state: Int)
    /// A counter was increased by one.
    case counter(String)
    /// The note of a counter was replaced.
    case note(String)
  }

  /// A line of the journal.
  package enum Event: Hashable {
    /// A save is about to be made.
    case begin(Change)
    /// It was reported as saved.
    case saved
    /// It was reported as failed, or as having an unknown outcome.
    case failed(domain: String, code: Int, isKnown: Bool)
    /// A fetch was reported as failed.
    case unread(domain: String, code: Int)
    /// A group whose state was unknown was read.
    case found(number: Int, state: Int)
    /// What was read isn't what was saved.
    case violation(String)
  }

  private let file: FileHandle

  /// Creates a journal.
  package init(_ url: URL) throws {
    try Data().write(to: url)
    file = try FileHandle(forWritingTo: url)
  }

  /// Appends an event with the time.
  package func note(_ event: Event) {
    let line = "\(Date().timeIntervalSinceReferenceDate) \(Self.text(event))\n"
    do {
      try file.write(contentsOf: Data(line.utf8))
      try file.synchronize()
    } catch {
      // Without its journal, a run proves nothing.
      exit(3)
    }
  }

  private static func text(_ event: Event) -> String {
    switch event {
    case .begin(.group(let number, let state)): "begin group \(number) \(state)"
    case .begin(.counter(let name)): "begin counter \(name)"
    case .begin(.note(let name)): "begin note \(name)"
    case .saved: "saved"
    case .failed(let domain, let code, let isKnown):
      "\(isKnown ? "failed" : "unknown") \(domain) \(code)"
    case .unread(let domain, let code): "unread \(domain) \(code)"
    case .found(let number, let state): "found \(number) \(state)"
    case .violation(let text): "violation \(text)"
    }
  }

  /// Reads a journal; a line that isn't one is a violation.
  package static func read(_ url: URL) throws -> [(time: Double, event: Event)] {
    try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
      let words = line.split(separator: " ").map(String.init)
      return (words.first.flatMap(Double.init) ?? 0, event(words.dropFirst()))
    }
  }

  private static func event(_ words: ArraySlice<String>) -> Event {
    let words = Array(words)
    func number(_ index: Int) -> Int? { index < words.count ? Int(words[index]) : nil }
    switch (words.first, words.count) {
    case ("begin", 4) where words[1] == "group":
      if let group = number(2), let state = number(3) {
        return .begin(.group(number: group, state: state))
      }
    case ("begin", 3) where words[1] == "counter": return .begin(.counter(words[2]))
    case ("begin", 3) where words[1] == "note": return .begin(.note(words[2]))
    case ("saved", 1): return .saved
    case ("failed", 3), ("unknown", 3):
      if let code = number(2) {
        return .failed(domain: words[1], code: code, isKnown: words[0] == "failed")
      }
    case ("unread", 3):
      if let code = number(2) { return .unread(domain: words[1], code: code) }
    case ("found", 3):
      if let group = number(1), let state = number(2) {
        return .found(number: group, state: state)
      }
    default: break
    }
    return .violation(words.joined(separator: " "))
  }
}
