import ManagedModel
import SQLiteDriver

/// The functions on texts in conditions.
///
/// Each answers NULL for NULL; a bad regular expression is an error.
///
/// The first is Apple's. What Apple's framework calls for the others is not publicly known; their
/// names and arguments are this framework's own: two texts and the options of the comparison.
enum TextFunction: String, CaseIterable, Sendable {
  case search = "NSCoreDataStringSearch"
  case compare = "NSCoreDataStringCompare"
  case like = "NSCoreDataLike"
  case matches = "NSCoreDataMatches"

  var argumentCount: Int32 { self == .search ? 4 : 3 }

  func value(_ arguments: [SQLiteValue]) throws -> SQLiteValue {
    guard arguments.count == Int(argumentCount), let left = Self.text(arguments[0]),
      let right = Self.text(arguments[1])
    else { return .null }
    switch self {
    case .search:
      let search = StringSearch(flags: Self.number(arguments[2]), mode: Self.number(arguments[3]))
      return Self.found(search, left, right)
    case .compare:
      let order = StringMatching.compare(left, right, Self.options(arguments[2]))
      return .integer(Int64(order.rawValue))
    case .like:
      return Self.truth(StringMatching.isLike(left, right, Self.options(arguments[2])))
    case .matches:
      return Self.truth(try StringMatching.matches(left, right, Self.options(arguments[2])))
    }
  }

  private static func found(_ search: StringSearch, _ text: String, _ part: String) -> SQLiteValue {
    switch search.type {
    case .beginsWith: truth(StringMatching.hasPrefix(text, part, search.options))
    case .endsWith: truth(StringMatching.hasSuffix(text, part, search.options))
    default: truth(StringMatching.contains(text, part, search.options))
    }
  }

  private static func truth(_ value: Bool) -> SQLiteValue { .integer(value ? 1 : 0) }

  private static func text(_ value: SQLiteValue) -> String? {
    switch value {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .blob, .null: nil
    }
  }

  private static func number(_ value: SQLiteValue) -> Int {
    if case .integer(let number) = value { Int(truncatingIfNeeded: number) } else { 0 }
  }

  private static func options(_ value: SQLiteValue) -> NSComparisonPredicate.Options {
    NSComparisonPredicate.Options(rawValue: UInt(clamping: number(value)))
  }
}
