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

  /// The collation of a sort descriptor's comparison method.
  init?(selectorName: String) {
    switch selectorName {
    case "localizedCompare:": self = .localeSensitive
    case "localizedCaseInsensitiveCompare:": self = .localeSensitiveNoCase
    case "localizedStandardCompare:": self = .finderlike
    case "caseInsensitiveCompare:": self = .noCase
    default: return nil
    }
  }
}
