internal import Foundation
internal import Synchronization

/// The expressions of `MATCHES`, compiled once.
///
/// It forgets all of them when it holds too many.
final class RegularExpressionCache: Sendable {
  static let shared = RegularExpressionCache()

  private struct Key: Hashable {
    let pattern: String
    let isCaseInsensitive: Bool
  }

  private static let limit = 128
  private let compiled = Mutex<[Key: NSRegularExpression]>([:])

  /// The compiled pattern.
  ///
  /// Wrapped so that its alternatives are tried for the whole string.
  func expression(
    _ pattern: String, isCaseInsensitive: Bool
  ) throws(PredicateEvaluationError) -> NSRegularExpression {
    let key = Key(pattern: pattern, isCaseInsensitive: isCaseInsensitive)
    if let found = compiled.withLock({ $0[key] }) { return found }
    let expression: NSRegularExpression
    do {
      _ = try NSRegularExpression(pattern: pattern)
      expression = try NSRegularExpression(
        pattern: "(?:" + pattern + ")\\z", options: isCaseInsensitive ? .caseInsensitive : [])
    } catch {
      throw .badPattern(pattern, reason: "its syntax is wrong")
    }
    compiled.withLock { cache in
      if cache.count >= Self.limit { cache.removeAll() }
      cache[key] = expression
    }
    return expression
  }
}
