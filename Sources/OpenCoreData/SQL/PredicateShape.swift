import ManagedModel

/// What a predicate's SQL depends on, apart from the values of its constants.
///
/// Two predicates with equal bytes have the same text, with other values bound.
struct PredicateShape {
  /// The tree with the kinds of its constants.
  private(set) var bytes: [UInt8]

  /// The constants, in the order in which they stand.
  private(set) var constants: [PredicateValue] = []

  private var indexes: [ObjectIdentifier: Int] = [:]

  /// Starts with bytes that the text depends on too.
  init(_ start: [UInt8]) {
    bytes = start
  }

  /// Where the value of a constant expression is, nil for an expression that was not seen.
  func index(of expression: NSExpression) -> Int? {
    indexes[ObjectIdentifier(expression)]
  }

  /// The parts that a shape is written of.
  private enum Mark: UInt8 {
    case comparison, compound, truth, falsity
    case constant, sharedConstant, indexablePattern
    case evaluatedObject, variable, keyPath, path, size, function, list, subquery, conditional
  }

  /// Adds a predicate; false for one that is not told from others by its shape.
  mutating func add(_ predicate: NSPredicate) -> Bool {
    switch predicate {
    case let comparison as NSComparisonPredicate: return add(comparison)
    case let compound as NSCompoundPredicate:
      add(.compound, UInt64(compound.compoundPredicateType.rawValue))
      add(UInt64(compound.predicates.count))
      for predicate in compound.predicates where !add(predicate) { return false }
      return true
    default:
      guard case .constant(let value) = predicate.kind else { return false }
      add(value ? .truth : .falsity)
      return true
    }
  }

  private mutating func add(_ comparison: NSComparisonPredicate) -> Bool {
    let type = comparison.predicateOperatorType
    add(.comparison, UInt64(type.rawValue))
    add(UInt64(comparison.options.rawValue))
    add(UInt64(comparison.comparisonPredicateModifier.rawValue))
    let isList =
      (type == .in || type == .contains) && comparison.comparisonPredicateModifier == .direct
    guard add(comparison.leftExpression, isList: isList),
      add(comparison.rightExpression, isList: isList)
    else { return false }
    if type == .like, case .string(let pattern)? = constants.last,
      TextPrefix(like: pattern) != nil
    {
      add(.indexablePattern)
    }
    return type != .customSelector
  }

  /// Adds an expression; false for one that is not told from others by its shape.
  ///
  /// - Parameter isList: Whether a list of whole numbers or objects may have any length.
  mutating func add(_ expression: NSExpression, isList: Bool = false) -> Bool {
    if expression.isIndependentOfObject {
      return add(constant: expression, isList: isList)
    }
    switch expression.node {
    case .evaluatedObject: add(.evaluatedObject)
    case .variable(let name): add(.variable, name)
    case .keyPath(let path): add(.keyPath, path.text)
    case .path(let base, let path):
      guard case .keyPath(let keyPath) = path.node else { return false }
      add(.path, keyPath.text)
      return add(base)
    case .subscripted(let collection, .size):
      add(.size)
      return add(collection)
    case .function(let function, let arguments):
      add(.function, function.rawValue)
      if function == .cast, case .constant(.string(let name))? = arguments.last?.node {
        add(name)
      }
      return add(arguments)
    case .aggregate(let elements):
      add(.list)
      return add(elements)
    case .subquery(let collection, let variable, let predicate):
      add(.subquery, variable)
      return add(collection) && add(predicate)
    case .conditional(let predicate, let yes, let no):
      add(.conditional)
      return add(predicate) && add(yes) && add(no)
    case .constant, .subscripted, .method, .setOperation, .anyKey, .block, .assignment, .fetch:
      return false
    }
    return true
  }

  private mutating func add(_ expressions: [NSExpression]) -> Bool {
    add(UInt64(expressions.count))
    for expression in expressions where !add(expression) { return false }
    return true
  }

  private mutating func add(constant expression: NSExpression, isList: Bool) -> Bool {
    // One expression at two places is one value; two of the same shape may be two.
    if let index = indexes[ObjectIdentifier(expression)] {
      add(.sharedConstant, UInt64(index))
      return true
    }
    guard let value = try? expression.value(for: nil) else { return false }
    indexes[ObjectIdentifier(expression)] = constants.count
    constants.append(value)
    add(.constant)
    return add(kindOf: value, isList: isList)
  }

  private mutating func add(kindOf value: PredicateValue, isList: Bool) -> Bool {
    guard case .collection(let collection) = value else {
      guard let kind = Self.kind(value) else { return false }
      bytes.append(kind)
      return true
    }
    let elements = collection.elements
    var kinds: Set<UInt8> = []
    for element in elements {
      guard let kind = Self.kind(element) else { return false }
      kinds.insert(kind)
    }
    let only = kinds.count == 1 ? kinds.first : nil
    if isList, let only, only == UInt8(ascii: "i") || only == UInt8(ascii: "o") {
      bytes += [UInt8(ascii: "["), only]
      return true
    }
    bytes.append(UInt8(ascii: "("))
    add(UInt64(elements.count))
    if let only {
      bytes.append(only)
    } else {
      bytes += elements.compactMap(Self.kind)
    }
    return true
  }

  private static func kind(_ value: PredicateValue) -> UInt8? {
    switch value {
    case .null: UInt8(ascii: "n")
    case .bool, .integer: UInt8(ascii: "i")
    case .double: UInt8(ascii: "f")
    case .decimal: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .url: UInt8(ascii: "u")
    case .date: UInt8(ascii: "t")
    case .data: UInt8(ascii: "b")
    case .uuid: UInt8(ascii: "g")
    case .object: UInt8(ascii: "o")
    case .collection, .dictionary, .placeholder: nil
    }
  }

  // MARK: Bytes

  private mutating func add(_ mark: Mark) {
    bytes.append(mark.rawValue)
  }

  private mutating func add(_ mark: Mark, _ number: UInt64) {
    add(mark)
    add(number)
  }

  private mutating func add(_ mark: Mark, _ text: String) {
    add(mark)
    add(text)
  }

  /// A number, seven bits a byte.
  mutating func add(_ number: UInt64) {
    var rest = number
    while rest > 127 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// A text with its length before it.
  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }
}
