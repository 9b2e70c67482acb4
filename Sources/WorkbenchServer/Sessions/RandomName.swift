/// Names that can't be guessed.
enum RandomName {
  /// Returns 128 random bits from the system as hexadecimal digits.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in
      let byte = String(UInt8.random(in: .min ... .max, using: &generator), radix: 16)
      return byte.count == 1 ? "0\(byte)" : byte
    }.joined()
  }

  /// Returns whether two names are equal, in a time that doesn't depend on where they differ.
  static func areEqual(_ first: String, _ second: String) -> Bool {
    let (first, second) = (Array(first.utf8), Array(second.utf8))
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
