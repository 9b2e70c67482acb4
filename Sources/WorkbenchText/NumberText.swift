import OpenCoreData

/// Numbers as the workbench prints them, in the shell, in messages and in reports alike.
///
/// Independent of the locale: a count must read the same on every machine.
package enum NumberText {
  /// `5,061`: groups of three, a comma between them.
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// `1 hit`, `5,060 hits`.
  package static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(grouped(number)) \(PluralForm.of(number, one, many))"
  }

  /// `1 of 1 variant`, `5 of 6 variants`: the total decides the form.
  package static func counted(_ part: Int, of total: Int, _ one: String) -> String {
    "\(grouped(part)) of \(counted(total, one))"
  }

  /// `0.4 ms`, `55 ms`, `1,204 ms`, `12.3 s`, from nanoseconds.
  package static func time(_ nanoseconds: UInt64) -> String {
    switch nanoseconds {
    case 0: "0 ms"
    case ..<50_000: "<0.1 ms"
    case ..<950_000: tenths(nanoseconds, unit: 1_000_000) + " ms"
    case ..<10_000_000_000:
      grouped(Int((nanoseconds + 500_000) / 1_000_000)) + " ms"
    default: tenths(nanoseconds, unit: 1_000_000_000) + " s"
    }
  }

  /// Milliseconds with three places, from nanoseconds: `12.402`.
  package static func milliseconds(_ nanoseconds: UInt64) -> String {
    let microseconds = (nanoseconds + 500) / 1_000
    let places = String(1_000 + microseconds % 1_000).dropFirst()
    return "\(grouped(Int(microseconds / 1_000))).\(places)"
  }

  /// The grouped number, filled with blanks on its left to `width` characters.
  package static func right(_ number: Int, _ width: Int) -> String {
    right(grouped(number), width)
  }

  /// The text, filled with blanks on its left to `width` characters.
  package static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// The text, filled with blanks on its right to `width` characters.
  package static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func tenths(_ nanoseconds: UInt64, unit: UInt64) -> String {
    let tenths = (nanoseconds * 10 + unit / 2) / unit
    return "\(grouped(Int(tenths / 10))).\(tenths % 10)"
  }
}
