/// Finds the word that was probably meant, for "did you mean".
package enum NearestWord {
  /// The candidate nearest to a word, or nil when none is near.
  ///
  /// Near is: a third of the word's letters mistyped, left out, added or swapped with a neighbour,
  /// at least one; or one word containing the other. Case does not count. Of equals the first wins.
  package static func to(_ word: String, in candidates: some Sequence<String>) -> String? {
    let wanted = Array(word.lowercased())
    guard !wanted.isEmpty else { return nil }
    let limit = max(1, (wanted.count + 1) / 3)
    var best: (word: String, cost: Int)?
    for candidate in candidates where candidate != word {
      let letters = Array(candidate.lowercased())
      var cost = distance(wanted, letters)
      if cost > limit {
        guard contains(wanted, letters) else { continue }
        cost += limit
      }
      if cost < best?.cost ?? .max {
        best = (candidate, cost)
      }
    }
    return best?.word
  }

  /// Letters to change, add, remove or swap with their neighbour to make one word the other.
  package static func distance(_ first: String, _ second: String) -> Int {
    distance(Array(first), Array(second))
  }

  private static func contains(_ first: [Character], _ second: [Character]) -> Bool {
    let (short, long) = first.count < second.count ? (first, second) : (second, first)
    return short.count >= 3 && String(long).contains(String(short))
  }

  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var beforeLast = [Int]()
    var last = Array(0...second.count)
    for row in 1..<(first.count + 1) {
      var current = [row]
      for column in 1..<(second.count + 1) {
        let isSame = first[row - 1] == second[column - 1]
        var cost = min(
          last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
        if row > 1, column > 1, first[row - 1] == second[column - 2],
          first[row - 2] == second[column - 1]
        {
          cost = min(cost, beforeLast[column - 2] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
