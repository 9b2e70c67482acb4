/// One row of the report: what was measured against what was wished for.
struct Floor: Codable {
  let name: String
  /// What ours is compared with, such as `C`, or the unit of a value that is compared with nothing.
  let against: String
  /// Ours divided by the floor, minima; for memory, bytes.
  let ratio: Double
  let medianRatio: Double?
  /// Of the time that the threads were running, minima.
  let processorRatio: Double?
  let limit: Double?
  /// Nil without a limit.
  let met: Bool?
  /// What one operation is.
  let unit: String
  /// Nanoseconds an operation: minimum and median, of the floor and of ours.
  let floorMinimum, floorMedian, oursMinimum, oursMedian: Double?
  let note: String

  init(_ result: Result) {
    let workload = result.workload
    name = workload.name
    against = result.times[0].program.rawValue
    ratio = result.ratio
    medianRatio = result.medianRatio
    processorRatio = result.processorRatio
    limit = workload.limit
    met = workload.limit.map { result.ratio <= $0 }
    unit = workload.unit
    floorMinimum = result.times[0].minimum
    floorMedian = result.times[0].median
    oursMinimum = result.times[1].minimum
    oursMedian = result.times[1].median
    note = workload.note
  }

  /// A row without a floor: growth, memory, a time with a limit of its own.
  init(name: String, against: String, value: Double, limit: Double?, unit: String, note: String) {
    self.name = name
    self.against = against
    ratio = value
    medianRatio = nil
    processorRatio = nil
    self.limit = limit
    met = limit.map { value <= $0 }
    self.unit = unit
    floorMinimum = nil
    floorMedian = nil
    oursMinimum = nil
    oursMedian = nil
    self.note = note
  }
}
