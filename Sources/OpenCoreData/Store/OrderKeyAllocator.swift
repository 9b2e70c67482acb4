/// The order keys in `Z_FOK_` columns of an ordered relationship's destinations.
///
/// The first is 2048, and each subsequent one is 1024 greater, so that objects can be inserted in
/// between: an object inserted between two gets the middle, one inserted at the start half of the
/// first. If no integer is left, all are renumbered.
enum OrderKeyAllocator {
  private static let first: Int64 = 2048
  private static let step: Int64 = 1024

  /// Returns an SQL expression for the order keys of the rows of each owner.
  ///
  /// - Parameters:
  ///   - partition: The quoted column of the owner's key.
  ///   - order: The quoted column by which the rows are in order.
  static func orderKeySQL(partition: String, order: String) -> String {
    "\(first - step) + \(step) * row_number() OVER (PARTITION BY \(partition) ORDER BY \(order))"
  }

  /// Returns the order key of an object after the one with the highest order key; 0 for none.
  static func next(after last: Int64) -> Int64 {
    last > .max - step ? .max : max(first, last + step)
  }

  /// Returns the order keys to write, so that all ascend and as few as possible change.
  ///
  /// - Parameter present: The order key of each destination in the new order; `nil` if it has none.
  /// - Returns: The new order key of each; `nil` if it doesn't change.
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
      guard low <= .max - step else { return renumbered(present) }
      low = low == 0 ? first : low + step
      changes[index] = low
    }
    return changes
  }

  private static func renumbered(_ present: [Int64?]) -> [Int64?] {
    present.enumerated().map { index, key in
      let wanted = first + step * Int64(index)
      return key == wanted ? nil : wanted
    }
  }

  /// Returns the indexes of a longest ascending subsequence of the order keys.
  private static func longestAscent(of keys: [Int64?]) -> [Int] {
    /// For each length, the index of the lowest order key that ends such a subsequence.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: keys.count)
    for (index, key) in keys.enumerated() {
      guard let key, key > 0 else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if (keys[ends[middle]] ?? 0) < key { low = middle + 1 } else { high = middle }
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
