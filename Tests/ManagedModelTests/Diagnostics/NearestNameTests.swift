import ManagedModel
import Testing

@Suite("Similar names")
struct NearestNameTests {
  @Test(
    arguments: [
      ("fecth", "fetch"), ("fetchh", "fetch"), ("Moood", "Mood"), ("mood", "Mood"),
      ("iso3166Code", "numericISO3166Code"), ("numericIso3166Code", "numericISO3166Code"),
      ("updated", "updatedAt"), ("xyzzy", nil), ("a", nil), ("", nil), ("fetch", nil),
    ] as [(String, String?)])
  func suggestsTheNearestName(word: String, nearest: String?) {
    let known = ["fetch", "touch", "Mood", "numericISO3166Code", "updatedAt"]
    #expect(NearestName.of(word, among: known) == nearest)
  }

  @Test func shortSubstringIsNotSuggested() {
    #expect(NearestName.of("company", among: ["ANY", "IN", "LIKE"]) == nil)
    #expect(NearestName.of("date", among: ["updatedAt"]) == nil)
  }

  @Test func firstOfEquallySimilarNamesWins() {
    #expect(NearestName.of("mood", among: ["moods", "moody"]) == "moods")
    #expect(NearestName.of("mood", among: ["moody", "moods"]) == "moody")
  }

  @Test func typosAreNearerThanSubstrings() {
    #expect(NearestName.of("hitt", among: ["hittable", "hits"]) == "hits")
  }

  @Test func longWordsAreCompared() {
    let long = String(repeating: "a", count: 100_000)
    #expect(NearestName.of(long, among: [long + "b"]) == long + "b")
  }
}
