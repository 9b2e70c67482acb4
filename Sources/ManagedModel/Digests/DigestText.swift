/// Gathers facts for a digest, so that no two lists of facts give the same bytes.
struct DigestText {
  private var bytes: [UInt8]

  /// Begins with what the facts are about.
  init(_ subject: String) {
    bytes = []
    add(subject)
  }

  /// Adds a text, or that there is none.
  mutating func add(_ text: String?) {
    guard let text else { return bytes.append(0) }
    add(Array(text.utf8))
  }

  /// Adds a number.
  mutating func add(_ number: Int) {
    add("\(number)")
  }

  /// Adds a yes or no.
  mutating func add(_ flag: Bool) {
    add(flag ? "yes" : "no")
  }

  /// Adds bytes with their number before them.
  mutating func add(_ content: [UInt8]) {
    bytes.append(1)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }
    bytes += content
  }

  /// The 32 bytes of the digest.
  var digest: [UInt8] { SHA256.hash(bytes) }
}
