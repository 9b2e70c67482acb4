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
    case .vmsteps: "VM steps"
    case .pageins: "pages read"
    case .pageouts: "pages written"
    case .filepages: "pages of the file"
    case .walpages: "pages of the log"
    case .freepages: "free pages"
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
      case .pageins, .pageouts, .filepages, .walpages: heading.replacing("pages", with: "page")
      default: String(heading.dropLast())
      }
    return "1 \(one)"
  }
}
