/// Finds the name that somebody probably meant.
package enum NearestName {
  /// The name that takes the fewest changes to reach from a word, or nil when none is near.
  ///
  /// Case does not count. A third of the letters may differ, and at least one. Of equally near
  /// names the first in the alphabet wins.
  ///
  /// - Parameters:
  ///   - word: What was written.
  ///   - names: What could have been meant.
  package static func of(_ word: String, among names: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().prefix(64))
    let limit = max(1, letters.count / 3)
    return names.map { (distance(letters, Array($0.lowercased().prefix(64))), $0) }
      .filter { $0.0 <= limit }
      .min { $0 < $1 }?.1
  }

  /// The number of letters to insert, delete, replace or swap with their neighbour.
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
