import ProfileEvents
import WorkbenchText

/// A line of a report as JSON Lines: an object with the version of the schema and the run or log
/// that it belongs to.
///
/// Each line can be read without the others, so that a database can load the lines of many files
/// into one table. `Documentation/report-lines.schema.json` describes the keys.
struct ReportLine {
  /// The version of the schema, in each line.
  ///
  /// It changes when a key is removed or gets another meaning. Kinds and keys can be added without
  /// a new version.
  static let version = 1

  /// The kinds of lines that aren't events.
  enum Kind: String, CaseIterable {
    /// The first line of a run.
    case run
    /// The result of a variant.
    case variant
    /// A step of a variant.
    case step
    /// The first line of a log.
    case log
    /// A section of a log.
    case section
    /// All executions of a statement in a variant or a log.
    case statementTotals = "statement-totals"
    /// A finding of a variant or a log.
    case finding
    /// The number of events that aren't in the report.
    case leftOut = "left-out"
  }

  private var fields = JSONFields()

  /// Creates the part of a line that all lines of a run or log have in common.
  private init(_ origin: StaticString, _ name: String, labels: [ReportLabel]) {
    add("version", ReportLine.version)
    add(origin, name)
    let pairs = labels.map { ($0.key, ReportLine.storable($0.value)) }
    if !pairs.isEmpty { fields.add("labels", texts: pairs) }
  }

  /// Creates the common part of the lines of a run.
  ///
  /// - Parameter machine: The machine, whose times differ from those of others; `nil` for events.
  init(scenario: String, machine: String?, labels: [ReportLabel]) {
    self.init("scenario", scenario, labels: labels)
    add("machine", machine)
  }

  /// Creates the common part of the lines of a log.
  init(log: String, labels: [ReportLabel]) {
    self.init("log", log, labels: labels)
  }

  /// Returns a line of a kind that begins with the common part.
  func line(_ kind: Kind, in variant: String? = nil) -> ReportLine {
    line(kind.rawValue, in: variant)
  }

  /// Returns the line of an event.
  func line(_ kind: EventKind, in variant: String) -> ReportLine {
    line(kind.rawValue, in: variant)
  }

  private func line(_ kind: String, in variant: String?) -> ReportLine {
    var line = self
    line.add("variant", variant)
    line.add("kind", kind)
    return line
  }

  /// The object, without a line feed.
  var text: String { fields.object }

  mutating func add(_ key: StaticString, _ text: String?) {
    fields.add(key, text.map(ReportLine.storable))
  }

  mutating func add(_ key: StaticString, _ number: Int?) {
    fields.add(key, number)
  }

  mutating func add(_ key: StaticString, _ number: UInt64) {
    fields.add(key, number)
  }

  /// Adds microseconds as nanoseconds, unless they're `nil`; at most the greatest integer.
  mutating func add(_ key: StaticString, microseconds: Int?) {
    let nanoseconds = microseconds.map { number -> Int in
      let (product, isBeyond) = number.multipliedReportingOverflow(by: 1_000)
      return isBeyond ? Int.max : product
    }
    fields.add(key, nanoseconds)
  }

  mutating func add(_ key: StaticString, _ flag: Bool?) {
    fields.add(key, flag)
  }

  mutating func add(_ key: StaticString, _ texts: [String]) {
    fields.add(key, texts: texts.map(ReportLine.storable))
  }

  /// Adds the counts of all metrics, by name.
  mutating func add(_ key: StaticString, _ counts: [Metric: Int]) {
    let named = counts.map { ($0.key.rawValue, $0.value) }
    fields.add(key, numbers: Dictionary(named) { first, _ in first })
  }

  mutating func add(_ key: StaticString, _ site: CallSite?) {
    add(key, site.map { "\($0.file):\($0.line)" })
  }

  /// Returns text without NUL, which PostgreSQL can't store, and which corrupt logs contain.
  private static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\u{0}", with: "\u{FFFD}") : text
  }
}

/// What identifies a run or a log among others, such as its release: a key and a value.
package struct ReportLabel: Sendable, Equatable {
  package let key: String
  package let value: String

  /// Creates a label from a string such as `release=1.4`.
  ///
  /// Returns `nil` unless the key consists of letters, digits, and `_`, and doesn't begin with a
  /// digit.
  package init?(_ text: String) {
    guard let match = text.wholeMatch(of: /([A-Za-z_][A-Za-z0-9_]*)=((?s).*)/) else { return nil }
    key = String(match.1)
    value = String(match.2)
  }
}
