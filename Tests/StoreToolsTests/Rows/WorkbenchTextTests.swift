import Foundation
import Testing

@testable import WorkbenchText

@Suite("Text of values, words, and times")
struct WorkbenchTextTests {
  /// A quotation mark with a combining mark after it is one character.
  @Test(arguments: [
    ("a\"\u{301}b", ["\"a\"\"\u{301}b\""]), ("a\"b", ["\"a\"\"b\""]), ("plain", ["plain"]),
    ("a\r\nb", ["\"a\r", "b\""]), ("", [""]),
  ])
  func valuesAreQuotedInCSV(value: String, lines: [String]) {
    #expect(CSVText.lines([value]).map { Array($0.utf8) } == lines.map { Array($0.utf8) })
  }

  @Test(arguments: [
    ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("a/b.yml", "a/b.yml"),
    ("a'\u{301};date", "'a'\\''\u{301};date'"), ("`date`", "'`date`'"),
  ])
  func wordsAreQuotedForAShell(word: String, quoted: String) {
    #expect(Array(CommandWord.quoted(word).utf8) == Array(quoted.utf8))
  }

  @Test(arguments: [
    (488_000_000.789, "2016-06-19T03:33:20.789Z"), (0.123, "2001-01-01T00:00:00.123Z"),
    (-0.5, "2000-12-31T23:59:59.500Z"), (-63_114_076_800.0, "0001-01-01T00:00:00.000Z"),
    (252_423_993_599.9999, "9999-12-31T23:59:59.999Z"), (0.9996, "2001-01-01T00:00:01.000Z"),
  ])
  func datesHaveTheirNearestMillisecond(seconds: Double, text: String) {
    let date = RowText(Date(timeIntervalSinceReferenceDate: seconds))
    #expect(date.plain == text)
    #expect(date.json == "\"\(text)\"")
  }

  @Test(
    arguments: [([1, 1], 1), ([3, 3, 5, 5], 4), ([3, 4], 3), ([.max, .max], .max)]
      as [([UInt64], UInt64)])
  func medianIsInTheRange(times: [UInt64], median: UInt64) {
    #expect(TimeSpread(times)?.median == median)
  }

  @Test(
    "text is measured in the columns of a terminal",
    arguments: [
      ("abc", 3), ("", 0), ("日本", 4), ("한국어", 6), ("ﾊﾝ", 2), ("ＡＢ", 4), ("e\u{301}", 1),
      ("\u{301}", 0), ("a\u{200B}b", 2), ("👍🏽", 2), ("🇩🇪", 2), ("✓ ▲ → …", 7),
    ] as [(String, Int)])
  func textIsMeasuredInColumns(text: String, columns: Int) {
    #expect(TextWidth.of(text) == columns)
  }

  @Test("wide characters are padded and truncated by columns, and carets are below them")
  func wideCharactersAreAligned() {
    #expect(NumberText.left("日本", 6) == "日本  ")
    #expect(NumberText.right("日本", 5) == " 日本")
    #expect(TextWidth.truncated("日本語", columns: 6) == "日本語")
    #expect(TextWidth.truncated("日本語", columns: 5) == "日本…")
    #expect(TextWidth.truncated("日本語", columns: 4) == "日…")
    let excerpt = CaretExcerpt(
      line: "\t日本 b", range: SourceRange(line: 1, column: 5))
    #expect(excerpt.text == "  \t日本 b\n  \t     ^")
    let wide = CaretExcerpt(line: "a 日本", range: SourceRange(line: 1, column: 3, length: 2))
    #expect(wide.text == "  a 日本\n    ^^^^")
  }

  @Test func longTimesAreFormatted() {
    #expect(NumberText.time(.max) == "18,446,744,073.7 s")
    #expect(NumberText.milliseconds(.max) == "18,446,744,073,709.552")
  }
}
