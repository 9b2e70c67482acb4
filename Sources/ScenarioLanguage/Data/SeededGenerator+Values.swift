import OpenCoreData

extension SeededGenerator {
  /// Any whole number of a range; the least where it has no room.
  ///
  /// - Parameter bound: how many numbers are used where the range has more than can be said.
  mutating func whole(from least: Int, to greatest: Int, below bound: Int) -> Int {
    guard least < greatest else { return least }
    let (span, isOver) = greatest.subtractingReportingOverflow(least)
    return least + below(isOver || span == .max ? bound : span + 1)
  }

  /// Any number of a range.
  mutating func fraction(from least: Double, to greatest: Double) -> Double {
    least + Double(next() >> 11) / Double(1 << 53) * max(0, greatest - least)
  }

  /// A word of so many letters.
  ///
  /// - Parameter row: the number it ends in, counted from 0; nil for none.
  mutating func text(length: Int, row: Int?) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to"]
    var text = ""
    while text.utf8.count < length {
      text += syllables[below(syllables.count)]
    }
    text = String(text.prefix(length))
    guard let row else { return text }
    let serial = String(row + 1)
    return String(text.prefix(max(0, length - serial.count))) + serial
  }

  /// A UUID of version 4's form.
  mutating func uuid() -> UUID {
    let words = [next(), next()]
    func byte(_ index: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(8 * (7 - index % 8)))
    }
    return UUID(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6) & 0x0f | 0x40, byte(7),
        byte(8) & 0x3f | 0x80, byte(9), byte(10), byte(11), byte(12), byte(13), byte(14), byte(15)
      ))
  }
}
