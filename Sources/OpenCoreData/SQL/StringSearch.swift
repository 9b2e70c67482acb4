import ManagedModel

/// The two numbers that `NSCoreDataStringSearch` takes after its strings.
///
/// The flags are Apple's string comparison flags: 1 case-insensitive, 4 backward, 8 anchored, 32
/// localized, 128 diacritic-insensitive, 256 width-insensitive. Core Data's logs have 8 with mode 0
/// for a plain `BEGINSWITH` and 417 with mode 1 for `CONTAINS[cd]`; the numbers for the other
/// options are derived from these two.
struct StringSearch: Hashable, Sendable {
  let flags: Int

  /// 0 for bytewise comparison.
  ///
  /// 1 with options; 8 and 16 are added for `[l]` and `[w]`, because the flags for those two are
  /// set with any option.
  let mode: Int

  static let backwards = 4
  static let anchored = 8

  private static let caseInsensitive = 1
  private static let localized = 32
  private static let diacriticInsensitive = 128
  private static let widthInsensitive = 256

  init(flags: Int, mode: Int) {
    self.flags = flags
    self.mode = mode
  }

  init(
    _ type: NSComparisonPredicate.Operator, options: NSComparisonPredicate.Options
  ) {
    var flags =
      switch type {
      case .beginsWith: Self.anchored
      case .endsWith: Self.anchored | Self.backwards
      default: 0
      }
    var mode = 0
    let lenient = options.contains(.normalized) ? [] : options
    if !lenient.isEmpty {
      flags |= Self.localized | Self.widthInsensitive
      mode = 1 | Int(lenient.rawValue & 24)
    }
    if lenient.contains(.caseInsensitive) { flags |= Self.caseInsensitive }
    if lenient.contains(.diacriticInsensitive) { flags |= Self.diacriticInsensitive }
    self.flags = flags
    self.mode = mode
  }

  /// The options for the numbers.
  var options: NSComparisonPredicate.Options {
    var options = NSComparisonPredicate.Options(rawValue: UInt(mode & 24))
    if flags & Self.caseInsensitive != 0 { options.insert(.caseInsensitive) }
    if flags & Self.diacriticInsensitive != 0 { options.insert(.diacriticInsensitive) }
    return options
  }

  var type: NSComparisonPredicate.Operator {
    guard flags & Self.anchored != 0 else { return .contains }
    return flags & Self.backwards != 0 ? .endsWith : .beginsWith
  }
}
