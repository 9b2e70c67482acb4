/// A generator of the same numbers each time (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
  private var seed: UInt64

  /// Creates a generator.
  package init(seed: UInt64) {
    self.seed = seed
  }

  package mutating func next() -> UInt64 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    var value = (seed ^ (seed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
