/// A measurement of another library that does the same work.
struct Peer: Codable {
  let name: String
  let workload: String
  /// The ratio of the minimum time to the floor's.
  let ratio: Double
  let medianRatio: Double
  /// The minimum and median times, in nanoseconds per operation.
  let minimum, median: Double

  /// Returns the peers in a result.
  static func all(in result: Result) -> [Peer] {
    result.times.dropFirst(2).filter { $0.program != .swift }.map { time in
      Peer(
        name: time.program.rawValue, workload: result.workload.name,
        ratio: time.minimum / result.times[0].minimum,
        medianRatio: time.median / result.times[0].median, minimum: time.minimum,
        median: time.median)
    }
  }
}
