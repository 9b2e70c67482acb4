/// The numbers that `Z_FOK_` columns hold: the places of an ordered relationship's destinations.
///
/// The first is 2048, each further one 1024 more, so that there is room between them: what comes
/// between two gets the middle, what comes first half of the first. When there is no number left, all
/// are numbered anew.
enum OrderPlaces {
  private static let first: Int64 = 2048
  private static let step: Int64 = 1024

  /// The places to write, so that all ascend and as few as possible change.
  ///
  /// - Parameter present: The place of each destination in the new order; nil for one that has none.
  /// - Returns: The new place of each; nil where the present one stays.
  static func changes(_ present: [Int64?]) -> [Int64?] {
    let kept = longestAscent(of: present)
    var changes = [Int64?](repeating: nil, count: present.count)
    var start = 0
    var low: Int64 = 0
    for index in kept {
      let high = present[index] ?? 0
      let count = index - start
      guard high - low > Int64(count) else { return renumbered(present) }
      for number in 0..<count {
        changes[start + number] = low + (high - low) / Int64(count + 1) * Int64(number + 1)
      }
      (low, start) = (high, index + 1)
    }
    for index in start..<present.count {
      low = low == 0 ? first : low + step
      changes[index] = low
    }
    return changes
  }

  private static func renumbered(_ present: [Int64?]) -> [Int64?] {
    present.enumerated().map { index, place in
      let wanted = first + step * Int64(index)
      return place == wanted ? nil : wanted
    }
  }

  /// The indexes of a longest run of places that ascend already, others between them left out.
  private static func longestAscent(of places: [Int64?]) -> [Int] {
    /// The index whose place is the least end of a run of each length.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: places.count)
    for (index, place) in places.enumerated() {
      guard let place, place > 0 else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if (places[ends[middle]] ?? 0) < place { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: [Int] = []
    var index = ends.last ?? -1
    while index >= 0 {
      run.append(index)
      index = previous[index]
    }
    return run.reversed()
  }
}
