import ManagedModel
import Testing

/// Sorting with sort descriptors.
struct SortDescriptorTests {
  @Test(arguments: [
    (NSSortDescriptor.Comparison.binary, ["B", "a", "a10", "a9", "b", "é"]),
    (.caseInsensitiveCompare, ["a", "a10", "a9", "B", "b", "é"]),
    (.localizedStandardCompare, ["a", "a9", "a10", "b", "B", "é"]),
  ])
  func comparisonsSortStrings(comparison: NSSortDescriptor.Comparison, sorted: [String]) {
    let descriptor = NSSortDescriptor(key: nil, ascending: true, selector: comparison)
    #expect(["B", "b", "é", "a10", "a", "a9"].sorted(using: [descriptor]) == sorted)
  }

  @Test func nilSortsFirstAndFirstKeyIsMostSignificant() throws {
    let rows = [
      ReadablePerson(1, ["age": 3, "name": "c"]), ReadablePerson(2, ["age": nil, "name": "a"]),
      ReadablePerson(3, ["age": 3, "name": "b"]),
      ReadablePerson(4, ["age": Int16(9), "name": "d"]),
    ]
    let age = NSSortDescriptor(key: "age", ascending: true)
    let name = NSSortDescriptor(key: "name", ascending: false)
    #expect(rows.sorted(using: [age, name]).map(\.identifier.number) == [2, 1, 3, 4])
    let reversed = try #require(age.reversedSortDescriptor as? NSSortDescriptor)
    #expect(rows.sorted(using: [reversed]).map(\.identifier.number) == [4, 1, 3, 2])
    #expect(age.compare(rows[0], to: rows[3]) == .orderedAscending)
  }

  @Test func keysAreReadOncePerElementAndOnlyIfNeeded() {
    let rows = (0..<50).map { ReadablePerson($0, ["age": ($0 * 7) % 50, "name": "n"]) }
    let descriptors = ["age", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
    let sorted = rows.sorted(using: descriptors)
    #expect(sorted.map(\.identifier.number).prefix(3) == [0, 43, 36])
    #expect(rows.allSatisfy { $0.reads == ["age"] })
    #expect([ReadablePerson(1)].sorted(using: descriptors)[0].reads.isEmpty)
  }

  /// A store saves them as NULL, too.
  @Test func whatIsNotANumberSortsLikeNil() {
    let values: [Double?] = [2, .nan, 1, nil, .nan, -.infinity]
    let rows = values.enumerated().map { ReadablePerson($0.offset, ["height": $0.element]) }
    let height = NSSortDescriptor(key: "height", ascending: true)
    #expect(rows.sorted(using: [height]).map(\.identifier.number) == [1, 3, 4, 5, 2, 0])
  }

  /// A store saves them as text, too.
  @Test func urlsAreComparedLikeStrings() {
    let urls = ["x:b", "x:C", "x:a"].compactMap { URL(string: $0) }
    let rows = urls.enumerated().map { ReadablePerson($0.offset, ["site": $0.element]) }
    func order(_ comparison: NSSortDescriptor.Comparison) -> [Int] {
      let site = NSSortDescriptor(key: "site", ascending: true, selector: comparison)
      return rows.sorted(using: [site]).map(\.identifier.number)
    }
    #expect(order(.binary) == [1, 2, 0])
    for comparison in NSSortDescriptor.Comparison.allCases where comparison != .binary {
      #expect(order(comparison) == [2, 0, 1], "\(comparison)")
    }
  }

  @Test func descriptorsWithTheSameComparisonAreEqual() {
    let name = NSSortDescriptor(key: "name", ascending: true)
    #expect(name == NSSortDescriptor(key: "name", ascending: true, selector: .binary))
    #expect(name != NSSortDescriptor(key: "name", ascending: false))
    #expect(name != NSSortDescriptor(key: "name", ascending: true, selector: .localizedCompare))
    #expect(Set([name, NSSortDescriptor(key: "name", ascending: true)]).count == 1)
    let block = NSSortDescriptor(key: "n", ascending: false) { left, right in
      (left as? Int64 ?? 0) < (right as? Int64 ?? 0) ? .orderedAscending : .orderedDescending
    }
    #expect([["n": 1], ["n": 3]].sorted(using: [block]) == [["n": 3], ["n": 1]])
    #expect(block == block && block.comparison == nil)
    #expect(name.description == "(name, ascending, compare:)")
  }
}
