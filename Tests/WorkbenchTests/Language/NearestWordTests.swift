import Testing

@testable import Workbench

@Suite("Did you mean")
struct NearestWordTests {
  @Test(
    arguments: [
      ("fecth", "fetch"), ("fetchh", "fetch"), ("Moood", "Mood"), ("mood", "Mood"),
      ("iso3166Code", "numericISO3166Code"), ("numericIso3166Code", "numericISO3166Code"),
      ("xyzzy", nil), ("a", nil), ("", nil),
    ] as [(String, String?)])
  func proposesTheNearest(word: String, nearest: String?) {
    let known = ["fetch", "touch", "Mood", "numericISO3166Code", "updatedAt"]
    #expect(NearestWord.to(word, in: known) == nearest)
  }

  @Test(arguments: [
    ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3),
    ("misses", "mises", 1),
  ])
  func countsEdits(first: String, second: String, distance: Int) {
    #expect(NearestWord.distance(first, second) == distance)
    #expect(NearestWord.distance(second, first) == distance)
  }
}
