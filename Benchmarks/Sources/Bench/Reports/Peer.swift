/// Another library doing the same work.
struct Peer: Codable {
  let name: String
  let workload: String
  /// Against the floor, minima.
  let ratio: Double
  let medianRatio: Double
  /// Nanoseconds an operation.
  let minimum, median: Double

  /// The peers of a result.
  static func all(in result: Result) -> [Peer] {
    result.times.dropFirst(2).map { time in
      Peer(
        name: time.program.rawValue, workload: result.workload.name,
        ratio: time.minimum / result.times[0].minimum,
        medianRatio: time.median / result.times[0].median, minimum: time.minimum,
        median: time.median)
    }
  }
}
