import Testing
import WorkbenchText

@testable import LogAnalysis

@Suite("Times and numbers in a log")
struct LogMeasurementTests {
  /// A text, its time in microseconds, its rows, and the number that it counts.
  @Test(
    arguments: [
      ("sql connection fetch time: 0.4789s", 478_900, nil, nil),
      ("sql connection fetch time: 0.4789s.", 478_900, nil, nil),
      ("total fetch execution time: 12.0001s for 20 rows.", 12_000_100, 20, nil),
      ("total fetch execution time: 0,5s for 0 rows", 500_000, 0, nil),
      ("total fetch execution time: 0.1234567s for 3 rows.", 123_456, 3, nil),
      ("total count request execution time: 0.0528s for count of 10456.", 52_800, nil, 10_456),
      ("total fetch execution time: <private> for 3 rows.", 0, nil, nil),
      ("save execution time: 2s", 2_000_000, nil, nil),
    ] as [(String, Int?, Int?, Int?)])
  func findsTimeAndNumbers(text: String, time: Int?, rows: Int?, counted: Int?) {
    let measurement = LogMeasurement(LogBytes(text))
    #expect(measurement.microseconds == time)
    #expect(measurement.rows == rows)
    #expect(measurement.counted == counted)
    #expect(!measurement.isBeyondLimits)
  }

  @Test(arguments: [
    "total fetch execution time: 86401s for 1 rows.",
    "sql connection fetch time: 99999999999999999999.5s",
    "total fetch execution time: 0.1s for 1000000001 rows.",
    "total fetch execution time: 0.1s for -1 rows.",
  ])
  func reportsNumbersBeyondLimits(text: String) {
    #expect(LogMeasurement(LogBytes(text)).isBeyondLimits)
  }

  /// Text in the usual format, changed at random, has the same numbers when it's parsed in one
  /// pass.
  @Test func usualFormatsAreParsedLikeAllOthers() {
    let usual = [
      "sql connection fetch time: 0.0012s", "total fetch execution time: 0.0123s for 12 rows.",
      "total fetch execution time: 9999.123456s for 999999999 rows",
    ]
    let bytes = Array("0159.,s: for rowstime-".utf8)
    var random = SplitMixSequence(seed: 11)
    for round in 0..<20_000 {
      var text = Array(usual[round % usual.count].utf8)
      for _ in 0..<(random.next() % 3) {
        let index = Int(random.next() % UInt64(text.count))
        switch random.next() % 3 {
        case 0: text[index] = bytes[Int(random.next() % UInt64(bytes.count))]
        case 1: text.insert(bytes[Int(random.next() % UInt64(bytes.count))], at: index)
        default: text.remove(at: index)
        }
      }
      let line = LogBytes(text[...])
      #expect(LogMeasurement(line) == LogMeasurement(anyFormat: line), "\(line.string)")
    }
  }

  /// A time's percentiles are those of all times, each rounded to three digits.
  @Test func percentilesAreThoseOfSortedTimes() {
    var random = SplitMixSequence(seed: 3)
    var times = LogTimes()
    var all: [Int] = []
    for _ in 0..<2_000 {
      let time = Int(random.next() % 999)
      times.add(time)
      all.append(time)
    }
    all.sort()
    for percent in [1, 50, 95, 99, 100] {
      #expect(times.percentile(percent) == all[(all.count * percent + 99) / 100 - 1])
    }
    #expect(times.largest == all.last)
    #expect(times.total == all.reduce(0, +))
  }

  /// Also the times of two statements that are one: a microsecond, a day, and all between.
  @Test func timesOfAllSizesAreRoundedToThreeDigits() {
    var random = SplitMixSequence(seed: 5)
    var parts = [LogTimes(), LogTimes()]
    var all = [0, 1, 994, 995, 999, 1_000, 1_004, 1_005, 9_994, 9_995, 99_949, 99_950]
    all.append(InputLimits.logTime)
    for _ in 0..<4_000 {
      all.append(Int(random.next() % UInt64(InputLimits.logTime)) >> Int(random.next() % 37))
    }
    for (index, time) in all.enumerated() { parts[index % 2].add(time) }
    parts[0].add(parts[1])
    all.sort()
    for percent in 1...100 {
      let exact = all[(all.count * percent + 99) / 100 - 1]
      var unit = 1
      while exact >= 1_000 * unit { unit *= 10 }
      let rounded = (exact + unit / 2) / unit * unit
      #expect(parts[0].percentile(percent) == min(rounded, InputLimits.logTime))
    }
    #expect(parts[0].total == all.reduce(0, +))
  }
}

/// A sequence of pseudorandom numbers.
private struct SplitMixSequence {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
