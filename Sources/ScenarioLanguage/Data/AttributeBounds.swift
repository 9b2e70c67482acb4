import OpenCoreData

/// The least and the most an attribute's values may be, as its model says.
struct AttributeBounds {
  private let minimum: Double?
  private let maximum: Double?

  init(_ attribute: NSAttributeDescription) {
    minimum = attribute.valueRule.minimum.flatMap(Double.init)
    maximum = attribute.valueRule.maximum.flatMap(Double.init)
  }

  /// The ends of 1, 2, 3 … within the bounds.
  func serial(from greatest: Int) -> (least: Int, greatest: Int) {
    (whole(minimum) ?? 1, min(whole(maximum) ?? greatest, greatest))
  }

  /// The ends of whole numbers within the bounds.
  func random(below bound: Int) -> (least: Int, greatest: Int) {
    let least = whole(minimum) ?? 0
    return (least, whole(maximum) ?? max(least, bound - 1))
  }

  /// The ends of numbers within the bounds, from 0 to 1 without them.
  var fraction: (least: Double, greatest: Double) {
    let least = minimum ?? 0
    return (least, maximum ?? max(least + 1, 1))
  }

  /// The length of a text: 12 letters where nothing else is said.
  var textLength: Int {
    min(max(whole(minimum) ?? 0, 12), whole(maximum) ?? 12)
  }

  private func whole(_ bound: Double?) -> Int? {
    bound.flatMap { Int(exactly: $0.rounded()) }
  }
}
