/// The values of one mood, the same for every arm and every run.
struct MoodValues {
  let rank, stamp: Int64
  let votes, flags: Int32
  let kind: Int16
  let latitude, longitude: Double
  /// The name, 16 bytes long.
  let name: String
  /// The note, 50 bytes long.
  ///
  /// One in ten contains non-ASCII characters.
  let note: String

  /// Creates the values of a mood by its number.
  init(number: Int) {
    var numbers = SplitMix(seed: UInt64(number))
    rank = Int64(truncatingIfNeeded: numbers.next() >> 8)
    stamp = 1_700_000_000 + Int64(number)
    votes = Int32(truncatingIfNeeded: numbers.next() >> 44)
    flags = Int32(truncatingIfNeeded: numbers.next() >> 60)
    kind = Int16(truncatingIfNeeded: numbers.next() >> 56)
    latitude = Double(numbers.next() >> 12) / 1e13 - 90
    longitude = Double(numbers.next() >> 12) / 1e13 - 180
    let digits = String(number)
    name = "mood " + String(repeating: "0", count: 11 - digits.count) + digits
    let ending = number % 10 == 0 ? "très calme ce soir." : "rather calm tonight."
    note = "Seen from the bridge at dawn, " + ending
  }
}
