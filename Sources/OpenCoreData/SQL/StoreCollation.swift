import ManagedModel

/// The collations that a store's connections have, by Apple's names.
enum StoreCollation: String, CaseIterable, Sendable {
  /// `localizedCompare:`
  case localeSensitive = "NSCollateLocaleSensitive"
  /// `localizedCaseInsensitiveCompare:`
  case localeSensitiveNoCase = "NSCollateLocaleSensitiveNoCase"
  /// `localizedStandardCompare:`: as the Finder sorts, numbers by value.
  case finderlike = "NSCollateFinderlike"
  /// `caseInsensitiveCompare:`. The name is this framework's own.
  case noCase = "NSCollateNoCase"

  /// The collation of a sort descriptor's comparison, nil for the order of bytes.
  init?(_ comparison: NSSortDescriptor.Comparison) {
    switch comparison {
    case .binary: return nil
    case .localizedCompare: self = .localeSensitive
    case .localizedCaseInsensitiveCompare: self = .localeSensitiveNoCase
    case .localizedStandardCompare: self = .finderlike
    case .caseInsensitiveCompare: self = .noCase
    }
  }

  /// The comparison that memory sorts by: the same function for both.
  private var comparison: NSSortDescriptor.Comparison {
    switch self {
    case .localeSensitive: .localizedCompare
    case .localeSensitiveNoCase: .localizedCaseInsensitiveCompare
    case .finderlike: .localizedStandardCompare
    case .noCase: .caseInsensitiveCompare
    }
  }

  /// Compares two texts as their bytes in UTF-8: negative, zero or positive.
  func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
    let order = comparison.compare(
      .string(String(decoding: left, as: UTF8.self)),
      .string(String(decoding: right, as: UTF8.self)))
    return Int32(order.rawValue)
  }
}
