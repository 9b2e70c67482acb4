import ManagedModel
package import ProfileEvents

/// Formats numbers for the shell, messages, and reports.
///
/// The format doesn't depend on the locale, so that output is the same on every machine.
package enum NumberText {
  /// Returns a number with a comma between groups of three digits: `5,061`.
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// Returns a number with a noun in the singular or plural: `1 hit`, `5,060 hits`.
  package static func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(grouped(number)) \(PluralForm.of(number, one, many))"
  }

  /// Returns a part and a total: `1 of 1 variant`, `5 of 6 variants`.
  ///
  /// The total determines whether the noun is in the singular or plural.
  package static func counted(_ part: Int, of total: Int, _ one: String) -> String {
    "\(grouped(part)) of \(counted(total, one))"
  }

  /// Returns a time in nanoseconds as milliseconds or seconds: `0.4 ms`, `1,204 ms`, `12.3 s`.
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

  /// Returns a time in nanoseconds as milliseconds with three decimal places: `12.402`.
  package static func milliseconds(_ nanoseconds: UInt64) -> String {
    let microseconds = nanoseconds / 1_000 + (nanoseconds % 1_000 < 500 ? 0 : 1)
    let decimals = String(1_000 + microseconds % 1_000).dropFirst()
    return "\(grouped(Int(microseconds / 1_000))).\(decimals)"
  }

  /// Returns a number with grouped digits, padded with spaces on the left.
  package static func right(_ number: Int, _ width: Int) -> String {
    right(grouped(number), width)
  }

  /// Returns text padded with spaces on the left to a width in columns of a terminal.
  package static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - TextWidth.of(text))) + text
  }

  /// Returns text padded with spaces on the right to a width in columns of a terminal.
  package static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - TextWidth.of(text)))
  }

  private static func tenths(_ nanoseconds: UInt64, unit: UInt64) -> String {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: unit)
    let tenths = whole * 10 + (rest * 10 + unit / 2) / unit
    return "\(grouped(Int(tenths / 10))).\(tenths % 10)"
  }
}

/// Shortens statements for a line of a terminal or table.
package enum SQLAbbreviation {
  /// Returns a statement with its column list truncated after the first three columns of the table.
  ///
  /// For example, `SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCOLORS, ... FROM ZMOOD t0 WHERE  t0.Z_PK = ?`.
  /// A constant instead of `Z_ENT` doesn't count as a column.
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
  /// The plural noun for the metric in text and table headings: `SELECTs`, `faults`.
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
    case .walpages: "pages of the WAL"
    case .freepages: "free pages"
    case .peak: "peak objects"
    case .roundtrips: "round trips"
    case .registered: "registered objects"
    case .ddl: "DDL statements"
    case .dml: "DML statements"
    case .migratedrows: "migrated rows"
    case .copiedtables: "copied tables"
    case .addedcolumns: "added columns"
    case .createdindexes: "created indexes"
    default: rawValue
    }
  }

  /// Returns a number with the metric's noun: `1 SELECT`, `5,061 SELECTs`, `1 miss`.
  package func counted(_ number: Int) -> String {
    guard number == 1 else { return "\(NumberText.grouped(number)) \(heading)" }
    let one =
      switch self {
      case .misses: "miss"
      case .fetches, .prefetches, .createdindexes: String(heading.dropLast(2))
      case .pageins, .pageouts, .filepages, .walpages: heading.replacing("pages", with: "page")
      default: String(heading.dropLast())
      }
    return "1 \(one)"
  }
}

/// The median and range of the times of several runs of the same work.
package struct TimeSpread: Sendable, Equatable {
  /// The median in nanoseconds.
  package let median: UInt64
  /// The shortest time in nanoseconds.
  package let least: UInt64
  /// The longest time in nanoseconds.
  package let most: UInt64
  /// The number of runs.
  package let count: Int

  /// Creates the range of times in nanoseconds; returns `nil` if there are none.
  package init?(_ times: [UInt64]) {
    let sorted = times.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    least = first
    most = last
    count = sorted.count
    let middle = sorted.count / 2
    median =
      sorted.count.isMultiple(of: 2)
      ? sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2 : sorted[middle]
  }

  /// Creates a range from its values.
  package init(median: UInt64, least: UInt64, most: UInt64, count: Int) {
    (self.median, self.least, self.most, self.count) = (median, least, most, count)
  }

  /// Creates the time of a single run.
  package init(once time: UInt64) {
    (median, least, most, count) = (time, time, time, 1)
  }

  /// The minimum number of runs for comparing times.
  package static let enough = 3

  /// The time in words: `55 ms`, or `55 ms (52 ms to 61 ms, 5 runs)`.
  package var text: String { text(of: "run") }

  /// Returns the time in words with a noun: `0.4 ms (0.1 ms to 9.2 ms, 120 calls)`.
  package func text(of noun: String) -> String {
    guard count > 1 else { return NumberText.time(median) }
    return "\(NumberText.time(median)) (\(NumberText.time(least)) to \(NumberText.time(most)), "
      + "\(NumberText.grouped(count)) \(noun)s)"
  }
}
