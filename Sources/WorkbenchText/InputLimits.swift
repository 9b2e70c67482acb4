import SQLiteDriver

/// The largest numbers that files and arguments can contain.
///
/// The limits are far above realistic values; they reject mistakes and hostile input before it
/// costs memory or time. Every error for a larger number states the limit.
package enum InputLimits {
  /// Applies the limits of the process: SQLite's memory is limited to 1 GB.
  package static func limitProcess() {
    Connection.limitMemory(toBytes: 1 << 30)
  }

  /// The maximum of `--repeat`, the number of runs of a variant.
  package static let repeats = 1_000
  /// The maximum value of `--scale`.
  package static let scale = 1_000_000
  /// The maximum number of values of `--scale`.
  package static let scales = 100
  /// The maximum of `--jobs`, the number of scenarios that run concurrently.
  package static let jobs = 256
  /// The maximum number of rows that a scenario generates for all entities.
  package static let rows = 10_000_000
  /// The maximum of `times`: the objects that a step inserts, or the change groups that it undoes.
  package static let times = 1_000_000
  /// The maximum value of `limit`, `offset`, `batch`, and `every`.
  package static let objects = 1_000_000_000
  /// The maximum staleness interval in seconds.
  package static let seconds = 1e9
  /// The maximum count of numbers and names in an expression.
  package static let terms = 200
  /// The maximum value of an expression, and of the rows and times in a log or a result.
  package static let value = 1_000_000_000_000_000
  /// The maximum number of values in a YAML file after its aliases are expanded.
  package static let expandedValues = 100_000
  /// The maximum number of alias uses in a YAML file.
  package static let aliases = 16
  /// The maximum nesting depth of JSON.
  package static let jsonDepth = 100
}
