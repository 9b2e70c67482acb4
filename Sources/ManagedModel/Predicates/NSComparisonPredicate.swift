public import Foundation

/// Compares the values of two expressions.
///
/// Counterpart: `NSComparisonPredicate`.
open class NSComparisonPredicate: NSPredicate, @unchecked Sendable {
  /// How a collection on the left is compared.
  public enum Modifier: UInt, Sendable {
    /// The two values are compared directly.
    case direct = 0
    /// Every element on the left matches. True for an empty collection.
    case all
    /// At least one element on the left matches.
    case any
  }

  /// The operators, with Foundation's raw values.
  public enum Operator: UInt, Sendable, CaseIterable {
    case lessThan = 0
    case lessThanOrEqualTo
    case greaterThan
    case greaterThanOrEqualTo
    case equalTo
    case notEqualTo
    /// The right side is a regular expression for the whole string.
    case matches
    /// The right side is a pattern with `?` and `*`.
    case like
    case beginsWith
    case endsWith
    /// The left side is in the collection, or is part of the string, on the right.
    case `in`
    /// A method named by `customSelectorName`.
    case customSelector
    case contains = 99
    /// The right side is a collection of a lower and an upper bound, both inclusive.
    case between
  }

  /// The letters in brackets after an operator.
  public struct Options: OptionSet, Hashable, Sendable {
    /// Foundation's bits, and two more.
    public let rawValue: UInt

    /// Creates options from their bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// `[c]`: case is ignored.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: diacritics are ignored.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: the strings are normalized already and are compared byte by byte, so that an index
    /// can be used.
    ///
    /// The other options are then ignored.
    public static let normalized = Options(rawValue: 4)
    /// `[l]`: strings are compared according to the current locale.
    public static let localeSensitive = Options(rawValue: 8)
    /// `[w]`: full-width and half-width forms are equal.
    public static let widthInsensitive = Options(rawValue: 16)
  }

  /// The value to compare; with ANY and ALL, a collection of values.
  public let leftExpression: NSExpression
  /// The value to compare with; a collection for IN and BETWEEN, a pattern for LIKE and MATCHES.
  public let rightExpression: NSExpression
  /// The modifier: direct, ANY, or ALL.
  ///
  /// NONE and SOME are parsed as NOT ANY and ANY.
  public let comparisonPredicateModifier: Modifier
  /// The operator.
  public let predicateOperatorType: Operator
  /// The letters in brackets after the operator.
  public let options: Options
  /// The name of the selector for `.customSelector`, such as `isKindOfClass:`.
  ///
  /// Foundation's `customSelector` is a `Selector`, which isn't available on Linux.
  public let customSelectorName: String?

  private let operands: Operands

  /// What most comparisons need of their expressions.
  ///
  /// Reading it counts no reference to an expression, which would take longer than comparing.
  private struct Operands: ~Copyable {
    /// Whether the expression on the left is a key path of one key.
    let hasKeyOnLeft: Bool
    /// The position of that key in the last record.
    let lastPosition = LastPosition()
    /// Whether one value is compared with a constant on the right.
    ///
    /// `false` for ANY, ALL, and other expressions, and for `CONTAINS` after a key path, whose
    /// value may be a collection of collections.
    let hasConstantOnRight: Bool
    /// That constant, which is `nil` for NaN.
    let constant: PredicateValue

    init(
      _ left: NSExpression, _ modifier: Modifier, _ type: Operator, _ right: NSExpression
    ) {
      // The initializer doesn't read its own properties: as the type can't be copied, Swift 6.3
      // would then destroy the constant that isn't initialized yet.
      let hasKey = left.hasOnlyKey
      let hasConstant = modifier == .direct && right.isConstant && (hasKey || type != .contains)
      hasKeyOnLeft = hasKey
      hasConstantOnRight = hasConstant
      constant = hasConstant ? right.constant.nilIfNotANumber : .null
    }
  }

  /// Creates a comparison of two expressions.
  ///
  /// Counterpart: `init(leftExpression:rightExpression:modifier:type:options:)`.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier,
    type: Operator, options: Options = []
  ) {
    guard type != .customSelector else { fatalError("a custom operator needs customSelectorName:") }
    self.leftExpression = leftExpression
    self.rightExpression = rightExpression
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = options
    customSelectorName = nil
    operands = Operands(
      leftExpression, comparisonPredicateModifier, predicateOperatorType, rightExpression)
    super.init(kind: .comparison, depth: 1 + max(leftExpression.depth, rightExpression.depth))
  }

  /// Creates a comparison with a method of the left value.
  ///
  /// It can only be evaluated in memory.
  ///
  /// - Parameters:
  ///   - leftExpression: The value whose method is called; with ANY and ALL, a collection of them.
  ///   - rightExpression: The argument of the method.
  ///   - customSelectorName: The name of the method, such as `isEqualToString:`.
  ///   - modifier: The modifier, which is always direct in Foundation's initializer.
  public init(
    leftExpression: NSExpression, rightExpression: NSExpression, customSelectorName: String,
    modifier: Modifier = .direct
  ) {
    self.leftExpression = leftExpression
    self.rightExpression = rightExpression
    comparisonPredicateModifier = modifier
    predicateOperatorType = .customSelector
    options = []
    self.customSelectorName = customSelectorName
    operands = Operands(
      leftExpression, comparisonPredicateModifier, predicateOperatorType, rightExpression)
    super.init(kind: .comparison, depth: 1 + max(leftExpression.depth, rightExpression.depth))
  }

  /// Decodes a comparison, or returns `nil` if a part is missing.
  public required init?(coder: NSCoder) {
    typealias Key = PredicateArchiveKey
    guard let left = coder.descending({ coder.archivedExpression(Key.left) }),
      let right = coder.descending({ coder.archivedExpression(Key.right) }),
      let type = UInt(exactly: coder.archivedInteger(Key.operatorType)).flatMap(Operator.init),
      let modifier = UInt(exactly: coder.archivedInteger(Key.modifier)).flatMap(Modifier.init),
      let options = UInt(exactly: coder.archivedInteger(Key.options))
    else { return nil }
    let selector = coder.archivedText(Key.selector)
    guard (type == .customSelector) == (selector != nil) else { return nil }
    leftExpression = left
    rightExpression = right
    comparisonPredicateModifier = modifier
    predicateOperatorType = type
    self.options = Options(rawValue: options)
    customSelectorName = selector
    operands = Operands(
      leftExpression, comparisonPredicateModifier, predicateOperatorType, rightExpression)
    super.init(decoded: .comparison, depth: 1 + max(left.depth, right.depth))
  }

  override func isTrue(
    for record: (any PredicateRecord)?, _ evaluator: inout PredicateEvaluator
  ) throws(PredicateEvaluationError) -> Bool {
    var left: PredicateValue
    if operands.hasKeyOnLeft, let record {
      left = operands.lastPosition.value(of: leftExpression.onlyKey ?? "", in: record)
    } else {
      left = try evaluator.value(of: leftExpression)
    }
    // NaN is compared as `nil`, as in a store.
    left.replaceNotANumber()
    if operands.hasConstantOnRight {
      return try evaluator.isTrue(self, left, operands.constant)
    }
    return try evaluator.evaluate(self, left)
  }

  open override func encode(with coder: NSCoder) {
    typealias Key = PredicateArchiveKey
    coder.encodePart(leftExpression, forKey: Key.left)
    coder.encodePart(rightExpression, forKey: Key.right)
    coder.encode(Int(predicateOperatorType.rawValue), forKey: Key.operatorType)
    coder.encode(Int(comparisonPredicateModifier.rawValue), forKey: Key.modifier)
    coder.encode(Int(options.rawValue), forKey: Key.options)
    if let customSelectorName {
      coder.encode(NSString(string: customSelectorName), forKey: Key.selector)
    }
  }

  /// Creates a comparison of other expressions with the operator, modifier, and options of a
  /// comparison.
  package init(
    like comparison: NSComparisonPredicate, left: NSExpression, right: NSExpression
  ) {
    leftExpression = left
    rightExpression = right
    comparisonPredicateModifier = comparison.comparisonPredicateModifier
    predicateOperatorType = comparison.predicateOperatorType
    options = comparison.options
    customSelectorName = comparison.customSelectorName
    operands = Operands(
      leftExpression, comparisonPredicateModifier, predicateOperatorType, rightExpression)
    super.init(kind: .comparison, depth: 1 + max(left.depth, right.depth))
  }
}
