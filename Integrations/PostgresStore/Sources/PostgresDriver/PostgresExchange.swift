import Foundation

/// A statement that a connection has run, and what it took.
package struct PostgresExchange: Sendable {
  /// The text with its placeholders, or a script without any.
  package let sql: String
  package let parameters: [PostgresValue]
  /// The rows that it has returned or, if there are none, those that it has changed.
  package let rows: Int
  package let duration: Duration
  /// The round trips since the last exchange was observed: one for the statement, and one each for
  /// preparing it and for connecting.
  package let roundTrips: Int
}

/// Counts a connection's round trips, delays them, and passes its statements to an observer.
final class ExchangeMonitor {
  /// Called after each statement, on the thread that ran it.
  var observer: (@Sendable (PostgresExchange) -> Void)?
  private let delay: Double
  /// The round trips that no statement has reported yet.
  private var unreported = 0

  /// Creates a monitor.
  ///
  /// - Parameter delay: The seconds by which each round trip is longer.
  init(delay: Double) {
    self.delay = delay
  }

  /// Counts and delays a round trip, which begins now.
  func beginRoundTrip() {
    unreported += 1
    if delay > 0 { Thread.sleep(forTimeInterval: delay) }
  }

  /// Runs a statement, and passes it to the observer, also if it fails.
  func observing(
    _ sql: String, _ parameters: [PostgresValue] = [],
    _ body: () throws(PostgresError) -> PostgresResult
  ) throws(PostgresError) -> PostgresResult {
    guard let observer else { return try body() }
    let begin = ContinuousClock.now
    var result: PostgresResult?
    defer {
      observer(
        PostgresExchange(
          sql: sql, parameters: parameters,
          rows: result.map { $0.columnCount > 0 ? $0.rowCount : $0.changedRows } ?? 0,
          duration: ContinuousClock.now - begin, roundTrips: unreported))
      unreported = 0
    }
    let rows = try body()
    result = rows
    return rows
  }
}
