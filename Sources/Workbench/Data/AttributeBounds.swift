import OpenCoreData

/// The least and the most an attribute's values may be, as its model says.
struct AttributeBounds {
  private let minimum: Double?
  private let maximum: Double?

  init(_ attribute: NSAttributeDescription) {
    minimum = attribute.valueRule.minimum.flatMap(Double.init)
    maximum = attribute.valueRule.maximum.flatMap(Double.init)
  }

  /// 1, 2, 3 … within the bounds, from the start again at their end.
  func serial(_ row: Int, from greatest: Int) -> Int {
    let low = whole(minimum) ?? 1
    let high = min(whole(maximum) ?? greatest, greatest)
    guard low < high else { return low }
    let (span, isOver) = high.subtractingReportingOverflow(low)
    return isOver ? row : low + row % (span == .max ? span : span + 1)
  }

  /// Any whole number within the bounds.
  func random(_ random: inout SeededGenerator, below bound: Int) -> Int {
    let low = whole(minimum) ?? 0
    let high = whole(maximum) ?? max(low, bound - 1)
    guard low < high else { return low }
    let (span, isOver) = high.subtractingReportingOverflow(low)
    return low + random.below(isOver || span == .max ? bound : span + 1)
  }

  /// Any number within the bounds, from 0 to 1 without them.
  func fraction(_ random: inout SeededGenerator) -> Double {
    let low = minimum ?? 0
    let high = maximum ?? max(low + 1, 1)
    let unit = Double(random.next() >> 11) / Double(1 << 53)
    return low + unit * max(0, high - low)
  }

  /// The length of a text: 12 letters where nothing else is said.
  var textLength: Int {
    min(max(whole(minimum) ?? 0, 12), whole(maximum) ?? 12)
  }

  private func whole(_ bound: Double?) -> Int? {
    bound.flatMap { Int(exactly: $0.rounded()) }
  }
}
