internal import Foundation
internal import Synchronization

/// The string operators, both for evaluation in memory and for the functions that SQL calls.
///
/// Without options and with `[n]`, strings are compared byte by byte. With `[c]`, `[d]`, `[w]`, or
/// `[l]`, `StringOrder` compares them, and Foundation searches them; for two ASCII strings, a
/// faster search has the same result.
package enum StringMatching {
  /// Returns Foundation's search options for a predicate's options.
  private static func foundation(
    _ options: NSComparisonPredicate.Options
  ) -> String.CompareOptions {
    var found: String.CompareOptions = []
    if options.contains(.caseInsensitive) { found.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { found.insert(.diacriticInsensitive) }
    if options.contains(.widthInsensitive) { found.insert(.widthInsensitive) }
    return found
  }

  private static func isByteWise(_ options: NSComparisonPredicate.Options) -> Bool {
    options.isEmpty || options.contains(.normalized)
  }

  private static func locale(_ options: NSComparisonPredicate.Options) -> Locale? {
    options.contains(.localeSensitive) ? Locale.current : nil
  }

  /// Returns the result of `==`, which compares bytes if there are no options.
  package static func isEqual(
    _ left: String, _ right: String, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    if isByteWise(options) { return left.hasSameBytes(as: right) }
    return StringOrder.compare(left, right, options) == .orderedSame
  }

  /// Returns the order of two strings, for `<` and the other operators.
  package static func compare(
    _ left: String, _ right: String, _ options: NSComparisonPredicate.Options
  ) -> ComparisonResult {
    if isByteWise(options) {
      return PredicateValue.compare(.string(left), .string(right)) ?? .orderedSame
    }
    return StringOrder.compare(left, right, options)
  }

  /// Returns the result of `BEGINSWITH`.
  ///
  /// Every string begins with the empty string.
  package static func hasPrefix(
    _ text: String, _ prefix: String, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    if prefix.isEmpty { return true }
    if isByteWise(options) { return text.beginsWithBytes(of: prefix) }
    if let bytes = ASCIIPair(text, prefix, options) { return bytes.left.starts(with: bytes.right) }
    return found(prefix, in: text, options, .anchored)
  }

  /// Returns the result of `ENDSWITH`.
  ///
  /// Every string ends with the empty string.
  package static func hasSuffix(
    _ text: String, _ suffix: String, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    if suffix.isEmpty { return true }
    if isByteWise(options) { return text.endsWithBytes(of: suffix) }
    if let bytes = ASCIIPair(text, suffix, options) {
      return bytes.left.suffix(bytes.right.count).elementsEqual(bytes.right)
    }
    return found(suffix, in: text, options, [.anchored, .backwards])
  }

  /// Returns the result of `CONTAINS`, and of `IN` with strings.
  ///
  /// Every string contains the empty string.
  package static func contains(
    _ text: String, _ part: String, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    if part.isEmpty { return true }
    if isByteWise(options) { return text.containsBytes(of: part) }
    if let bytes = ASCIIPair(text, part, options) { return contains(bytes.left, bytes.right) }
    return found(part, in: text, options, [])
  }

  private static func found(
    _ part: String, in text: String, _ options: NSComparisonPredicate.Options,
    _ anchor: String.CompareOptions
  ) -> Bool {
    isFound(part, in: text, foundation(options).union(anchor), locale(options))
  }

  /// Returns whether Foundation finds a string in a text.
  static func isFound(
    _ part: String, in text: String, _ options: String.CompareOptions, _ locale: Locale?
  ) -> Bool {
    // Foundation would find a NUL after the end of the text, and trap.
    if part.utf8.contains(0) {
      return isFound(withoutNUL(part), in: withoutNUL(text), options, locale)
    }
    return text.range(of: part, options: options, range: nil, locale: locale) != nil
  }

  /// Returns the text with another control character, which has no assigned meaning, for each NUL.
  private static func withoutNUL(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.lazy.map { $0 == "\0" ? "\u{91}" : $0 })
    return String(scalars)
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first, part.count <= text.count else { return part.isEmpty }
    return text.withUnsafeBufferPointer { text in
      part.withUnsafeBufferPointer { part in
        (0...(text.count - part.count)).contains { start in
          text[start] == first
            && text[start..<(start + part.count)].elementsEqual(part)
        }
      }
    }
  }

  /// Returns the result of `LIKE`: `?` matches one character, `*` any number, and `\` escapes the
  /// next character.
  ///
  /// The pattern must match the entire string.
  package static func isLike(
    _ text: String, _ pattern: String, _ options: NSComparisonPredicate.Options
  ) -> Bool {
    let pattern = LikePattern(folded(escaped(pattern, options), options))
    guard !isByteWise(options), pattern.hasSingleCharacters, !text.utf8.allSatisfy({ $0 < 0x80 })
    else {
      return pattern.matches(folded(text, options))
    }
    return pattern.matches(
      text.map { character in
        let parts = Array(folded(String(character), options).unicodeScalars)
        return (parts, parts.count > character.unicodeScalars.count)
      })
  }

  /// Full-width and small characters that become a wildcard or an escape if the width is ignored.
  private static let wideWildcards: Set<Unicode.Scalar> = [
    "\u{FF0A}", "\u{FF1F}", "\u{FF3C}", "\u{FE61}", "\u{FE56}", "\u{FE68}",
  ]

  /// Returns a pattern of `LIKE` in which characters that folding makes wildcards are escaped.
  private static func escaped(
    _ pattern: String, _ options: NSComparisonPredicate.Options
  ) -> String {
    guard options.contains(.widthInsensitive), !isByteWise(options),
      pattern.unicodeScalars.contains(where: { wideWildcards.contains($0) })
    else { return pattern }
    var scalars = String.UnicodeScalarView()
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if !isEscaped, wideWildcards.contains(scalar) { scalars.append("\\") }
      scalars.append(scalar)
      isEscaped = scalar == "\\" && !isEscaped
    }
    return String(scalars)
  }

  /// Returns the result of `MATCHES`: whether a regular expression matches the entire string.
  package static func matches(
    _ text: String, _ pattern: String, _ options: NSComparisonPredicate.Options
  ) throws(PredicateEvaluationError) -> Bool {
    let ignoresMarks = options.contains(.diacriticInsensitive) && !isByteWise(options)
    let marks: NSComparisonPredicate.Options = [.diacriticInsensitive]
    let text = ignoresMarks ? folded(text, marks) : text
    let expression = try RegularExpressionCache.shared.expression(
      ignoresMarks ? folded(pattern, marks) : pattern,
      isCaseInsensitive: options.contains(.caseInsensitive) && !isByteWise(options))
    return try matches(text, expression)
  }

  /// The number of steps between two progress reports, as defined by ICU.
  private static let stepsPerReport = 10_000

  /// Returns whether an expression matches the entire string.
  ///
  /// Nested repetition takes exponential time, so the steps are limited. **Cost:** at most
  /// `ModelLimits.matchSteps` steps, about a second.
  private static func matches(
    _ text: String, _ expression: NSRegularExpression
  ) throws(PredicateEvaluationError) -> Bool {
    let whole = NSRange(location: 0, length: text.utf16.count)
    var length: Int?
    var reports = 0
    var isOverLimit = false
    expression.enumerateMatches(
      in: text, options: [.anchored, .reportProgress, .reportCompletion], range: whole
    ) { match, flags, stop in
      if let match {
        length = match.range.length
        stop.pointee = true
      } else if flags.contains(.internalError) {
        // ICU's backtracking stack is full.
        isOverLimit = true
      } else if flags.contains(.progress) {
        reports += 1
        guard reports * stepsPerReport >= ModelLimits.matchSteps else { return }
        isOverLimit = true
        stop.pointee = true
      }
    }
    if isOverLimit, length == nil {
      throw .tooManySteps(expression.pattern, ModelLimits.matchSteps)
    }
    return length == whole.length
  }

  private static func folded(
    _ text: String, _ options: NSComparisonPredicate.Options
  ) -> String {
    isByteWise(options)
      ? text : text.folding(options: foundation(options), locale: locale(options))
  }
}

/// The bytes of two ASCII strings, in lowercase if case is ignored.
private struct ASCIIPair {
  let left: [UInt8]
  let right: [UInt8]

  /// Returns `nil` if one of the strings isn't ASCII, or if the comparison depends on the locale.
  init?(_ left: String, _ right: String, _ options: NSComparisonPredicate.Options) {
    if options.contains(.localeSensitive) { return nil }
    let ignoresCase = options.contains(.caseInsensitive)
    guard let left = Self.bytes(left, ignoresCase), let right = Self.bytes(right, ignoresCase)
    else { return nil }
    self.left = left
    self.right = right
  }

  private static func bytes(_ text: String, _ ignoresCase: Bool) -> [UInt8]? {
    var bytes = Array(text.utf8)
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 0x80 { return nil }
      if ignoresCase, byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z") {
        bytes[index] = byte | 0x20
      }
    }
    return bytes
  }
}

/// A parsed pattern of `LIKE`.
///
/// A character is a Unicode scalar, as in SQLite.
package struct LikePattern {
  private enum Piece: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case any
  }

  private let pieces: [Piece]

  /// Parses a pattern of `LIKE`: `?` for one character, `*` for any number of them.
  package init(_ pattern: String) {
    var pieces: [Piece] = []
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        pieces.append(.scalar(scalar))
        isEscaped = false
      } else {
        switch scalar {
        case "\\": isEscaped = true
        case "?": pieces.append(.one)
        case "*": if pieces.last != .any { pieces.append(.any) }
        default: pieces.append(.scalar(scalar))
        }
      }
    }
    if isEscaped { pieces.append(.scalar("\\")) }
    self.pieces = pieces
  }

  /// Whether the pattern contains `?`.
  var hasSingleCharacters: Bool { pieces.contains(.one) }

  /// Returns whether the pattern matches the entire string.
  ///
  /// **Cost:** at worst the product of the lengths.
  package func matches(_ text: String) -> Bool {
    matches(Array(text.unicodeScalars), continuations: [])
  }

  /// Returns whether the pattern matches an entire string of folded characters.
  ///
  /// - Parameter characters: The folded characters, and whether each has more scalars than the
  ///   original one, such as `ss` for `ß`. `?` matches all of them.
  func matches(_ characters: [(scalars: [Unicode.Scalar], isExpanded: Bool)]) -> Bool {
    var scalars: [Unicode.Scalar] = []
    var continuations: Set<Int> = []
    for character in characters {
      if character.isExpanded {
        continuations.formUnion(scalars.count + 1..<scalars.count + character.scalars.count)
      }
      scalars += character.scalars
    }
    return matches(scalars, continuations: continuations)
  }

  private func matches(_ scalars: [Unicode.Scalar], continuations: Set<Int>) -> Bool {
    var (piece, position) = (0, 0)
    var retry: (piece: Int, position: Int)?
    while position < scalars.count {
      if piece < pieces.count, pieces[piece] == .any {
        retry = (piece, position)
        piece += 1
      } else if piece < pieces.count, pieces[piece] == .scalar(scalars[position]) {
        piece += 1
        position += 1
      } else if piece < pieces.count, pieces[piece] == .one, !continuations.contains(position) {
        piece += 1
        position += 1
        while continuations.contains(position) { position += 1 }
      } else if let last = retry {
        // The last `*` matches one more character.
        retry = (last.piece, last.position + 1)
        piece = last.piece + 1
        position = last.position + 1
      } else {
        return false
      }
    }
    return pieces[piece...].allSatisfy { $0 == .any }
  }
}

/// A cache of the compiled expressions of `MATCHES`.
///
/// When it's full, all entries are removed.
final class RegularExpressionCache: Sendable {
  static let shared = RegularExpressionCache()

  private struct Key: Hashable {
    /// The pattern in UTF-8: a composed and a decomposed character are equal as strings.
    let pattern: [UInt8]
    let isCaseInsensitive: Bool
  }

  private static let limit = 128
  private let compiled = Mutex<[Key: NSRegularExpression]>([:])

  /// Returns the compiled pattern.
  ///
  /// The pattern is wrapped so that its alternatives apply to the entire string.
  func expression(
    _ pattern: String, isCaseInsensitive: Bool
  ) throws(PredicateEvaluationError) -> NSRegularExpression {
    let key = Key(pattern: Array(pattern.utf8), isCaseInsensitive: isCaseInsensitive)
    if let found = compiled.withLock({ $0[key] }) { return found }
    let expression: NSRegularExpression
    do {
      _ = try NSRegularExpression(pattern: pattern)
      expression = try Self.wrapped(pattern, isCaseInsensitive ? .caseInsensitive : [])
    } catch {
      throw .badPattern(pattern, reason: "its syntax is wrong")
    }
    compiled.withLock { cache in
      if cache.count >= Self.limit { cache.removeAll() }
      cache[key] = expression
    }
    return expression
  }

  /// Compiles a valid pattern so that it matches up to the end of the string.
  private static func wrapped(
    _ pattern: String, _ options: NSRegularExpression.Options
  ) throws -> NSRegularExpression {
    // The parenthesis could be part of a comment, which `(?x)` allows, or of a quotation that
    // begins with `\Q`.
    for end in ["", "\n"] {
      let pattern = "(?:" + pattern + end + ")\\z"
      if let expression = try? NSRegularExpression(pattern: pattern, options: options) {
        return expression
      }
    }
    return try NSRegularExpression(pattern: "(?:" + pattern + "\\E)\\z", options: options)
  }
}
