import CReadline
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchShell

extension TerminalInput {
  /// The words that Tab completes at the current prompt.
  private static let vocabulary = Mutex<ShellVocabulary?>(nil)

  /// Sets the words that Tab completes, until the next call.
  func offer(_ vocabulary: ShellVocabulary) {
    TerminalInput.vocabulary.withLock { $0 = vocabulary }
  }

  /// Returns the completions at the cursor, in readline's format.
  ///
  /// - Parameter end: The cursor's position in readline's line, in bytes.
  /// - Returns: An array that readline frees, or nil if there are no completions or if readline is
  ///   to complete file names.
  static func completions(upTo end: Int32) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let line = String(
      decoding: UnsafeRawBufferPointer(start: cdprof_readline_line(), count: Int(end)),
      as: UTF8.self)
    guard let vocabulary = vocabulary.withLock({ $0 }) else { return nil }
    switch vocabulary.candidates(for: line) {
    case .files:
      return nil
    case .words(let all):
      // Readline prints completions unescaped, so only printable ones are offered.
      let words = all.filter { PrintableText.line($0) == $0 }
      cdprof_readline_offer_no_files()
      return words.isEmpty ? nil : matches(words)
    }
  }

  /// Returns words in readline's format: the longest common prefix, the words, and nil.
  private static func matches(
    _ words: [String]
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let common = words.dropFirst().reduce(words[0]) { $0.commonPrefix(with: $1) }
    let entries = words.count == 1 ? words : [common] + words
    let size = (entries.count + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    // Readline frees the array with `free`.
    guard let memory = malloc(size) else { return nil }
    let array = memory.bindMemory(
      to: UnsafeMutablePointer<CChar>?.self, capacity: entries.count + 1)
    for (index, entry) in entries.enumerated() { array[index] = strdup(entry) }
    array[entries.count] = nil
    return array
  }
}
