import OpenCoreData
package import ProfileEvents

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

/// Statements shortened for one line of a terminal or a table.
package enum SQLAbbreviation {
  /// The statement with its column list cut after the first three columns of the table.
  ///
  /// `SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, ... FROM ZMOOD t0 WHERE  t0.Z_PK = ?`. A constant in
  /// the place of `Z_ENT` is not counted as a column.
  package static func short(_ sql: String) -> String {
    guard sql.hasPrefix("SELECT "), let from = sql.firstRange(of: " FROM ") else { return sql }
    let columns = sql[..<from.lowerBound].dropFirst("SELECT ".count).split(separator: ", ")
    let kept = columns.first?.allSatisfy(\.isNumber) == true ? 4 : 3
    guard columns.count > kept + 1 else { return sql }
    return "SELECT " + columns.prefix(kept).joined(separator: ", ") + ", ..."
      + sql[from.lowerBound...]
  }
}

extension Metric {
  /// The word for several in running text and table heads: `SELECTs`, `faults`.
  package var heading: String {
    switch self {
    case .selects: "SELECTs"
    case .inserts: "INSERTs"
    case .updates: "UPDATEs"
    case .deletes: "DELETEs"
    case .scanned: "scanned rows"
    case .vmsteps: "VM steps"
    case .pageins: "pages read"
    case .pageouts: "pages written"
    case .filepages: "pages of the file"
    case .walpages: "pages of the log"
    case .freepages: "free pages"
    case .peak: "peak objects"
    case .registered: "registered objects"
    default: rawValue
    }
  }

  /// A number with the word that fits it: `1 SELECT`, `5,061 SELECTs`, `1 miss`.
  package func counted(_ number: Int) -> String {
    guard number == 1 else { return "\(NumberText.grouped(number)) \(heading)" }
    let one =
      switch self {
      case .misses: "miss"
      case .fetches, .prefetches: String(heading.dropLast(2))
      case .pageins, .pageouts, .filepages, .walpages: heading.replacing("pages", with: "page")
      default: String(heading.dropLast())
      }
    return "1 \(one)"
  }
}

/// The times of several runs of the same work, and how far they lie apart.
package struct TimeSpread: Sendable, Equatable {
  /// Nanoseconds.
  package let median: UInt64
  /// Nanoseconds.
  package let least: UInt64
  /// Nanoseconds.
  package let most: UInt64
  /// How many runs.
  package let count: Int

  /// Nil for no run at all.
  package init?(_ times: [UInt64]) {
    let sorted = times.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    least = first
    most = last
    count = sorted.count
    let middle = sorted.count / 2
    median =
      sorted.count.isMultiple(of: 2)
      ? sorted[middle - 1] / 2 + sorted[middle] / 2 : sorted[middle]
  }

  /// A spread that is known already.
  package init(median: UInt64, least: UInt64, most: UInt64, count: Int) {
    (self.median, self.least, self.most, self.count) = (median, least, most, count)
  }

  /// One run, which has no range.
  package init(once time: UInt64) {
    (median, least, most, count) = (time, time, time, 1)
  }

  /// Fewer runs than this say nothing about a difference.
  package static let enough = 3

  /// `55 ms`, or `55 ms (52 ms to 61 ms, 5 runs)`.
  package var text: String { text(of: "run") }

  /// `0.4 ms (0.1 ms to 9.2 ms, 120 calls)`, by the noun of what was timed.
  package func text(of noun: String) -> String {
    guard count > 1 else { return NumberText.time(median) }
    return "\(NumberText.time(median)) (\(NumberText.time(least)) to \(NumberText.time(most)), "
      + "\(NumberText.grouped(count)) \(noun)s)"
  }
}
