import ArgumentParser

extension CompletionKind {
  /// A list of words with commas between them: a shell completes the last one, and offers none twice.
  ///
  /// The shell runs the program for it.
  static func words(_ words: [String]) -> CompletionKind {
    .custom { _, _, typed in
      let before = typed.lastIndex(of: ",").map { typed[...$0] } ?? ""
      let taken = before.split(separator: ",").map(String.init)
      return words.filter { !taken.contains($0) }.map { before + $0 }
    }
  }
}
