import SQLiteDriver

/// The largest numbers that files and arguments may contain.
///
/// They're far above real ones and there to refuse slips and hostile input before it costs memory or
/// time. Each error that refuses a larger number states the limit.
package enum InputLimits {
  /// Applies the limits that concern the process: SQLite may take a gigabyte.
  package static func limitProcess() {
    Connection.limitMemory(toBytes: 1 << 30)
  }

  /// Runs of a variant with `--repeat`.
  package static let repeats = 1_000
  /// The value of `--scale`.
  package static let scale = 1_000_000
  /// Values in one `--scale`.
  package static let scales = 100
  /// Scenarios that run at once with `--jobs`.
  package static let jobs = 256
  /// Rows of all entities that a scenario's data makes.
  package static let rows = 10_000_000
  /// Objects that one step inserts, and groups that one step undoes.
  package static let times = 1_000_000
  /// Values of `limit`, `offset`, `batch`, and `every`.
  package static let objects = 1_000_000_000
  /// Seconds of a staleness interval.
  package static let seconds = 1e9
  /// Numbers and names in one expression.
  package static let terms = 200
  /// The value of an expression, and rows or a time that a log or a result reports.
  package static let value = 1_000_000_000_000_000
  /// Values in a YAML file once its aliases are expanded.
  package static let expandedValues = 100_000
  /// Uses of aliases in a YAML file.
  package static let aliases = 16
  /// Objects and lists inside each other in JSON.
  package static let jsonDepth = 100
}
