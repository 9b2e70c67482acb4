internal import Foundation

/// What makes `NSPredicate(format:)` return the subclass that the text describes.
///
/// Swift lets an initialiser choose the class of its result only in a protocol extension. Not for
/// other types.
public protocol PredicateFormatInitializable {}

extension PredicateFormatInitializable {
  /// Parses a format string.
  ///
  /// Apple's `init(format:_:)`, whose arguments are `CVarArg`s.
  ///
  /// Traps with the column, a caret and what was expected where Apple raises. A bare Swift number
  /// for `%@` is refused, as it crashes on Apple's systems: write `%ld`, or `NSNumber(value:)`.
  /// Arguments beyond the last placeholder are ignored, as Apple does.
  /// - Parameters:
  ///   - format: for instance `"%K == %@ AND age > %ld"`.
  ///   - arguments: `%@` objects, `nil`, strings, dates, collections; `%K` key paths as strings;
  ///     `%d`, `%ld`, `%lu` … integers; `%f`, `%a`, `%la` … floating point numbers.
  public init(format: String, _ arguments: Any?...) {
    self.init(parsing: format, source: PlaceholderSource(arguments, strict: true))
  }

  /// Parses a format string whose arguments are all objects.
  ///
  /// `NSNumber` and Swift numbers serve `%@` and the number placeholders alike. Traps as
  /// `init(format:_:)`.
  public init(format: String, argumentArray arguments: [Any]?) {
    self.init(parsing: format, source: PlaceholderSource(arguments ?? [], strict: false))
  }

  private init(parsing format: String, source: PlaceholderSource) {
    do {
      let predicate = try PredicateParser.predicate(format, source: source)
      guard let made = predicate as? Self else {
        preconditionFailure("\(type(of: predicate)) is not a \(Self.self): \(format)")
      }
      self = made
    } catch {
      preconditionFailure(error.description)
    }
  }
}

extension NSPredicate {
  /// Parses a format string; what is wrong with it is data, not a trap.
  ///
  /// - Parameter arguments: taken by the placeholders in order, any number type for any of them.
  ///   `nil` keeps the placeholders as nodes, which print as written and cannot be evaluated.
  package static func parse(
    _ format: String, arguments: [Any?]? = nil
  ) throws(PredicateSyntaxError) -> NSPredicate {
    try PredicateParser.predicate(
      format, source: arguments.map { PlaceholderSource($0, strict: false) })
  }
}
