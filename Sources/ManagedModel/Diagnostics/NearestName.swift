/// Finds the most similar name, for "did you mean" suggestions.
package enum NearestName {
  /// Returns the name most similar to a word, or `nil` if none is similar or the word is one of
  /// them.
  ///
  /// A name is similar if at most a third of the word's letters, rounded to the nearest integer and
  /// at least one, are mistyped, missing, added, or transposed; or, with lower priority, if one
  /// contains the other, the shorter has at least four letters, and the longer is at most twice as
  /// long. Case is ignored. The first of equally similar names is returned, so pass them in a fixed
  /// order.
  ///
  /// - Parameters:
  ///   - word: The unknown word, of which the first 64 letters are compared.
  ///   - names: The candidates.
  package static func of(_ word: String, among names: some Sequence<String>) -> String? {
    let wanted = letters(of: word)
    guard !wanted.isEmpty else { return nil }
    let limit = max(1, (wanted.count + 1) / 3)
    var best: (name: String, cost: Int)?
    for name in names {
      guard name != word else { return nil }
      let candidate = letters(of: name)
      // The number of insertions or deletions is at least the difference of the lengths.
      let isFar = abs(wanted.count - candidate.count) > limit
      var cost = isFar ? 0 : distance(wanted, candidate)
      if isFar || cost > limit {
        guard isPart(wanted, candidate) else { continue }
        cost = distance(wanted, candidate) + limit
      }
      if cost < best?.cost ?? .max { best = (name, cost) }
    }
    return best?.name
  }

  /// Returns the question whether the most similar name is meant, or another next step if no name
  /// is similar.
  static func nextStep(
    for word: String, among names: some Sequence<String>, otherwise: String
  ) -> String {
    of(word, among: names).map { "Did you mean \($0)?" } ?? otherwise
  }

  private static func letters(of word: String) -> [Character] {
    // A name can have millions of letters.
    Array(word.prefix(64).lowercased().prefix(64))
  }

  /// Returns whether one name contains the other, and the shorter is long enough that it isn't by
  /// chance.
  private static func isPart(_ one: [Character], _ other: [Character]) -> Bool {
    let (short, long) = one.count < other.count ? (one, other) : (other, one)
    return short.count >= 4 && 2 * short.count >= long.count
      && String(long).contains(String(short))
  }

  /// Returns the number of letters to insert, delete, replace, or swap with their neighbor.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var before: [Int] = []
    var above = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var best = min(above[column + 1] + 1, current[column] + 1)
        best = min(best, above[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          best = min(best, before[column - 1] + 1)
        }
        current.append(best)
      }
      before = above
      above = current
    }
    return above[right.count]
  }
}
