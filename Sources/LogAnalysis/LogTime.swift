import Foundation

/// The time of a log line, as text and as a number for measuring intervals.
///
/// The text is stored in place, because each message has one: copies don't count references.
package struct LogTime: Sendable, Equatable {
  /// The length that's kept of a longer text, in bytes.
  private static let capacity = 40
  private var bytes = InlineArray<40, UInt8>(repeating: 0)
  private var count = 0
  /// The number of seconds since a day of the year 0, in UTC if the log contains the time zone;
  /// since midnight if it contains no date.
  ///
  /// A date without a year is one of the year 4. `nil` without a time.
  package private(set) var seconds: Double?

  /// The seconds after which the times of a log start over: those of a day if it contains no dates,
  /// those of a year if it contains dates without a year, or `nil`.
  var period: Double? {
    guard let seconds else { return nil }
    if seconds < LogTime.day { return LogTime.day }
    return seconds < Double(LogTime.days(year: 5, month: 1, day: 1)) * LogTime.day
      ? 366 * LogTime.day : nil
  }

  private static let day = 86_400.0

  /// Creates an empty time.
  package init() {}

  /// The time as the log contains it.
  ///
  /// Empty if there is none.
  package var text: String {
    bytes.span.withUnsafeBufferPointer { String(decoding: $0.prefix(count), as: UTF8.self) }
  }

  /// Whether the line contains no time.
  package var isEmpty: Bool { count == 0 }

  package static func == (left: LogTime, right: LogTime) -> Bool {
    left.count == right.count && left.seconds == right.seconds
      && left.bytes.indices.allSatisfy { left.bytes[$0] == right.bytes[$0] }
  }

  /// Parses the time in a line's prefix: `2014-07-31 15:29:04.797` (also with `T`, a comma, or a
  /// time zone), `May  1 12:00:00`, or `15:29:04.797`.
  init(in prefix: LogBytes) {
    let bytes = prefix.bytes
    var index = bytes.startIndex
    // Nearly always, the prefix begins with a date in digits, which no time of day can be part of.
    if LogTime.beginsWithDate(bytes) { index += 11 }
    while index + 7 < bytes.endIndex {
      if let clock = LogTime.clock(bytes, at: index) {
        let (start, day) = LogTime.day(bytes, before: index)
        let zone = LogTime.zone(bytes, at: clock.end)
        count = min(zone.end - start, LogTime.capacity)
        bytes[start..<(start + count)].withUnsafeBytes { text in
          var span = self.bytes.mutableSpan
          span.withUnsafeMutableBytes { $0.copyMemory(from: text) }
        }
        seconds = day * LogTime.day + clock.seconds
        // The zone changes when clocks are set. Times without a date start over at midnight.
        if period == nil { seconds = day * LogTime.day + clock.seconds - zone.offset }
        return
      }
      index += 1
    }
  }

  /// Returns whether a prefix begins with a date such as `2014-07-31`, and a space or a `T`.
  private static func beginsWithDate(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { text in
      text.count > 11 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
        && text[2].isDigit && text[5].isDigit && text[8].isDigit
        && (text[10] == UInt8(ascii: " ") || text[10] == UInt8(ascii: "T"))
    }
  }

  /// Parses `15:29:04.797` at an index.
  private static func clock(
    _ bytes: ArraySlice<UInt8>, at index: Int
  ) -> (seconds: Double, end: Int)? {
    guard bytes[index + 2] == UInt8(ascii: ":"), bytes[index + 5] == UInt8(ascii: ":"),
      index == bytes.startIndex || !bytes[index - 1].isDigit,
      let hours = number(bytes, index, 2), let minutes = number(bytes, index + 3, 2),
      let whole = number(bytes, index + 6, 2)
    else { return nil }
    var seconds = Double(hours * 3_600 + minutes * 60 + whole)
    var end = index + 8
    if end + 1 < bytes.endIndex,
      bytes[end] == UInt8(ascii: ".") || bytes[end] == UInt8(ascii: ","), bytes[end + 1].isDigit
    {
      var unit = 0.1
      end += 1
      while end < bytes.endIndex, bytes[end].isDigit {
        seconds += unit * Double(bytes[end] - UInt8(ascii: "0"))
        unit /= 10
        end += 1
      }
    }
    return (seconds, end)
  }

  /// Parses a time zone at an index, such as `+0200`, `-07:00`, or `Z`.
  ///
  /// - Returns: The offset from UTC in seconds, 0 without a time zone, and the end.
  private static func zone(
    _ bytes: ArraySlice<UInt8>, at index: Int
  ) -> (offset: Double, end: Int) {
    guard index < bytes.endIndex,
      bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-")
        || bytes[index] == UInt8(ascii: "Z")
    else { return (0, index) }
    var end = index + 1
    while end < bytes.endIndex, bytes[end].isDigit || bytes[end] == UInt8(ascii: ":") { end += 1 }
    let zone = bytes[..<end]
    guard let hours = number(zone, index + 1, 2) else { return (0, end) }
    let minutes = number(zone, index + 3, 2) ?? number(zone, index + 4, 2) ?? 0
    // Another number can follow a time, such as that of a process.
    guard hours <= 14, minutes < 60, zone[index...].count(where: \.isDigit) <= 4 else {
      return (0, end)
    }
    let offset = Double(hours * 3_600 + minutes * 60)
    return (bytes[index] == UInt8(ascii: "-") ? -offset : offset, end)
  }

  /// Returns the start of the date before a time of day, and the number of the day.
  private static func day(
    _ bytes: ArraySlice<UInt8>, before index: Int
  ) -> (start: Int, day: Double) {
    if index - 11 >= bytes.startIndex, bytes[index - 7] == UInt8(ascii: "-"),
      bytes[index - 4] == UInt8(ascii: "-"), let year = number(bytes, index - 11, 4),
      let month = number(bytes, index - 6, 2), let day = number(bytes, index - 3, 2)
    {
      return (index - 11, Double(days(year: year, month: month, day: day)))
    }
    if index - 7 >= bytes.startIndex, bytes[index - 7].isUpper {
      let month = names.firstIndex(of: LogBytes(bytes[(index - 7)..<(index - 4)]).string)
      let day = LogBytes(bytes[(index - 3)..<index]).withoutIndent.leadingNumber
      if let month, let day {
        return (index - 7, Double(days(year: LogTime.leapYear, month: month + 1, day: day)))
      }
    }
    return (index, 0)
  }

  /// The year of dates without one, which has a February 29.
  private static let leapYear = 4

  private static let names = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the number of days since the last day of February of the year 0.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let years = month > 2 ? year : year - 1
    let months = (month + 9) % 12
    return 365 * years + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ index: Int, _ count: Int) -> Int? {
    guard index >= bytes.startIndex, index + count <= bytes.endIndex else { return nil }
    var number = 0
    for byte in bytes[index..<(index + count)] {
      guard byte.isDigit else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }
}
