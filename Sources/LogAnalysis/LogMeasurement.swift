import Foundation
import WorkbenchText

/// The time and the numbers that a message reports.
///
/// Example: `total fetch execution time: 0.0123s for 12 rows.`
struct LogMeasurement: Equatable {
  /// The time, in microseconds, or `nil` if there's none or it exceeds the limit.
  private(set) var microseconds: Int?
  /// The number of returned rows.
  private(set) var rows: Int?
  /// The number of objects that a count request counted.
  private(set) var counted: Int?
  /// Whether a time or a number exceeds its limit.
  private(set) var isBeyondLimits = false

  init() {}

  /// Finds the time and the numbers in a text.
  init(_ text: LogBytes) {
    self =
      text.bytes.withUnsafeBufferPointer(LogMeasurement.init(standard:))
      ?? LogMeasurement(anyFormat: text)
  }

  /// Finds the time and the numbers, whatever is around them.
  init(anyFormat text: LogBytes) {
    let start = text.lastRange(of: "time: ")?.upperBound
    microseconds = start.flatMap { LogMeasurement.microseconds(text.bytes[$0...]) }
    let hasTime = start.map { text.bytes[$0...].first?.isDigit == true } ?? false
    let numbers = text.after("s for ") ?? text.after("s. for ")
    rows = numbers?.leadingNumber
    counted = numbers?.after("count of ")?.leadingNumber
    isBeyondLimits =
      hasTime && microseconds == nil || !(0...InputLimits.logRows).contains(counted ?? rows ?? 0)
  }

  /// Returns the time at the beginning, such as `0.0002s` or `0.4789s.`, in microseconds.
  ///
  /// Returns `nil` if it exceeds the limit.
  private static func microseconds(_ text: ArraySlice<UInt8>) -> Int? {
    var number = 0
    var decimals = -1
    for byte in text {
      if byte.isDigit {
        guard number <= InputLimits.logTime else { return nil }
        if decimals < 6 { number = number * 10 + Int(byte - UInt8(ascii: "0")) }
        if decimals >= 0, decimals < 6 { decimals += 1 }
      } else if byte == UInt8(ascii: ".") || byte == UInt8(ascii: ","), decimals < 0 {
        decimals = 0
      } else {
        break
      }
    }
    for _ in max(0, decimals)..<6 where number <= InputLimits.logTime { number *= 10 }
    return number <= InputLimits.logTime ? number : nil
  }
}

extension LogMeasurement {
  /// Parses the two formats that nearly all times of a log have, in one pass.
  ///
  /// They are `sql connection fetch time: 0.0012s`, and
  /// `total fetch execution time: 0.0123s for 12 rows.`
  ///
  /// Returns `nil` for all other text, and for numbers with more digits.
  private init?(standard text: UnsafeBufferPointer<UInt8>) {
    let isTotal: Bool
    var reader = DigitReader(text: text)
    if reader.skip("sql connection fetch time: ") {
      isTotal = false
    } else if reader.skip("total fetch execution time: ") {
      isTotal = true
    } else {
      return nil
    }
    guard let seconds = reader.number(4), reader.skip("."), var time = reader.number(6),
      reader.skip("s")
    else { return nil }
    for _ in reader.digits..<6 { time *= 10 }
    microseconds = seconds * 1_000_000 + time
    guard isTotal else {
      guard reader.isAtEnd else { return nil }
      return
    }
    guard reader.skip(" for "), let rows = reader.number(9), reader.skip(" rows") else {
      return nil
    }
    guard reader.isAtEnd || reader.skip("."), reader.isAtEnd else { return nil }
    self.rows = rows
  }

  private struct DigitReader {
    let text: UnsafeBufferPointer<UInt8>
    private var index = 0
    /// The number of digits of the last number.
    private(set) var digits = 0

    init(text: UnsafeBufferPointer<UInt8>) {
      self.text = text
    }

    var isAtEnd: Bool { index == text.count }

    /// Skips a string, and returns whether it was next.
    mutating func skip(_ string: StaticString) -> Bool {
      let length = string.utf8CodeUnitCount
      guard let start = text.baseAddress, text.count - index >= length,
        memcmp(start + index, string.utf8Start, length) == 0
      else { return false }
      index += length
      return true
    }

    /// Returns the next number, or `nil` if there's none or it has more digits.
    mutating func number(_ mostDigits: Int) -> Int? {
      var number = 0
      digits = 0
      while index < text.count, text[index].isDigit {
        guard digits < mostDigits else { return nil }
        number = number * 10 + Int(text[index] - UInt8(ascii: "0"))
        digits += 1
        index += 1
      }
      return digits == 0 ? nil : number
    }
  }
}
