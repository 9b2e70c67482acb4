import ArgumentParser

extension CompletionKind {
  /// Completes the last word of a comma-separated list, and doesn't offer words already in it.
  ///
  /// The shell runs the program to get the completions.
  static func words(_ words: [String]) -> CompletionKind {
    .custom { _, _, typed in
      let before = typed.lastIndex(of: ",").map { typed[...$0] } ?? ""
      let taken = before.split(separator: ",").map(String.init)
      return words.filter { !taken.contains($0) }.map { before + $0 }
    }
  }
}
