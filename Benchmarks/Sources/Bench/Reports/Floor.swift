/// A row of the report: a measured value and its limit.
struct Floor: Codable {
  let name: String
  /// What OpenCoreData is compared with, such as `C`, or the unit of a value without a comparison.
  let against: String
  /// The ratio of OpenCoreData's minimum time to the floor's.
  ///
  /// For memory, the number of bytes.
  let ratio: Double
  let medianRatio: Double?
  /// The ratio to plain Swift, if OpenCoreData is compared with something else.
  let plainRatio: Double?
  /// The ratio of the minimum CPU times.
  let processorRatio: Double?
  let limit: Double?
  /// Whether the limit is met, or `nil` without a limit.
  let met: Bool?
  /// The unit of one operation.
  let unit: String
  /// The minimum and median times of the floor and of OpenCoreData, in nanoseconds per operation.
  let floorMinimum, floorMedian, oursMinimum, oursMedian: Double?
  let note: String

  init(_ result: Result) {
    let workload = result.workload
    name = workload.name
    against = result.times[0].program.rawValue
    ratio = result.ratio
    medianRatio = result.medianRatio
    plainRatio = result.plainRatio
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

  /// Creates a row without a floor: growth, memory, or a time with an absolute limit.
  init(name: String, against: String, value: Double, limit: Double?, unit: String, note: String) {
    self.name = name
    self.against = against
    ratio = value
    medianRatio = nil
    plainRatio = nil
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
