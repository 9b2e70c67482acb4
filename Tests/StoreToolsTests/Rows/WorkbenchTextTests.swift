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

  @Test func longTimesAreFormatted() {
    #expect(NumberText.time(.max) == "18,446,744,073.7 s")
    #expect(NumberText.milliseconds(.max) == "18,446,744,073,709.552")
  }
}
