import ManagedModel
import Testing

@Suite("UTF-8's byte order mark")
struct ByteOrderMarkTests {
  @Test(
    arguments: [
      ("", 0), ("a", 0), ("\u{FEFF}", 3), ("\u{FEFF}a", 3), ("a\u{FEFF}", 0), ("\u{FEFE}a", 0),
    ])
  func onlyAMarkAtTheStartCounts(text: String, length: Int) {
    #expect(ByteOrderMark.length(in: Array(text.utf8)) == length)
    #expect(ByteOrderMark.length(in: text.utf8.dropLast()) == (text.utf8.count > 3 ? length : 0))
  }
}
