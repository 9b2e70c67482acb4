import CReadline
import Foundation
import OpenCoreData
import Synchronization
import WorkbenchShell

extension TerminalInput {
  /// What Tab chooses from at the prompt that is shown.
  private static let vocabulary = Mutex<ShellVocabulary?>(nil)

  /// Sets what Tab chooses from until it is set again.
  func offer(_ vocabulary: ShellVocabulary) {
    TerminalInput.vocabulary.withLock { $0 = vocabulary }
  }

  /// Returns the words that can be completed at the cursor, for readline.
  ///
  /// - Returns: an array that readline frees, or nil for no words, or for files to be completed.
  static func completions(upTo end: Int32) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let line = String(
      decoding: UnsafeRawBufferPointer(start: cdprof_readline_line(), count: Int(end)),
      as: UTF8.self)
    guard let vocabulary = vocabulary.withLock({ $0 }) else { return nil }
    switch vocabulary.candidates(for: line) {
    case .files:
      return nil
    case .words(let all):
      // Readline prints them itself.
      let words = all.filter { PrintableText.line($0) == $0 }
      cdprof_readline_offer_no_files()
      return words.isEmpty ? nil : matches(words)
    }
  }

  /// Readline's form: the longest common beginning, then the words, then nil.
  private static func matches(
    _ words: [String]
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let common = words.dropFirst().reduce(words[0]) { $0.commonPrefix(with: $1) }
    let entries = words.count == 1 ? words : [common] + words
    let size = (entries.count + 1) * MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    // From malloc, as readline frees it.
    guard let memory = malloc(size) else { return nil }
    let array = memory.bindMemory(
      to: UnsafeMutablePointer<CChar>?.self, capacity: entries.count + 1)
    for (index, entry) in entries.enumerated() { array[index] = strdup(entry) }
    array[entries.count] = nil
    return array
  }
}
