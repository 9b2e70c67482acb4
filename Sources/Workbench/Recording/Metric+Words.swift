package import ProfileEvents

extension Metric {
  /// The word for several in running text and table heads: `SELECTs`, `faults`.
  package var heading: String {
    switch self {
    case .selects: "SELECTs"
    case .inserts: "INSERTs"
    case .updates: "UPDATEs"
    case .deletes: "DELETEs"
    case .scanned: "scanned rows"
    case .peak: "peak objects"
    case .registered: "registered objects"
    default: rawValue
    }
  }

  /// A number with the word that fits it: `1 SELECT`, `5,061 SELECTs`, `1 miss`.
  package func counted(_ number: Int) -> String {
    guard number == 1 else { return "\(NumberText.grouped(number)) \(heading)" }
    let one =
      switch self {
      case .misses: "miss"
      case .fetches, .prefetches: String(heading.dropLast(2))
      default: String(heading.dropLast())
      }
    return "1 \(one)"
  }
}
