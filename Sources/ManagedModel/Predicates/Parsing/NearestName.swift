/// Finds the word that was probably meant.
package enum NearestName {
  /// The candidate with the smallest edit distance, if it is small for the word's length.
  ///
  /// Upper and lower case count as equal. Cost: the product of the lengths, for each candidate.
  package static func of(_ word: String, in candidates: [String]) -> String? {
    let letters = Array(word.lowercased())
    guard letters.count > 1, letters.count < 100 else { return nil }
    let limit = letters.count <= 3 ? 1 : letters.count <= 7 ? 2 : 3
    var best: (name: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(letters, Array(candidate.lowercased()))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// Insertions, deletions, changes and exchanges of neighbours that lead from one to the other.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var before: [Int] = []
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var next = [i + 1]
      for (j, b) in right.enumerated() {
        var cost = min(row[j + 1] + 1, next[j] + 1, row[j] + (a == b ? 0 : 1))
        if i > 0, j > 0, a == right[j - 1], b == left[i - 1] {
          cost = min(cost, before[j - 1] + 1)
        }
        next.append(cost)
      }
      before = row
      row = next
    }
    return row[right.count]
  }
}
