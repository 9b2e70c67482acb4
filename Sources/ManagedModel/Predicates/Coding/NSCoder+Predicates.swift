internal import Foundation

/// Reads untrusted archives: missing values are `nil`, and the depth of trees is limited.
extension NSCoder {
  @TaskLocal private static var depth = 0

  /// Reads one level of a tree, or returns `nil` below the maximum depth of a parsed tree.
  func descending<Result>(_ body: () -> Result?) -> Result? {
    guard Self.depth < ModelLimits.predicateDepth else { return nil }
    return Self.$depth.withValue(Self.depth + 1, operation: body)
  }

  func archivedInteger(_ key: String) -> Int {
    containsValue(forKey: key) ? decodeInteger(forKey: key) : -1
  }

  func archivedText(_ key: String) -> String? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSString.self, forKey: key).map { String(describing: $0) }
  }

  func archivedExpression(_ key: String) -> NSExpression? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSExpression.self, forKey: key)
  }

  func archivedPredicate(_ key: String) -> NSPredicate? {
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSPredicate.self, forKey: key)
  }

  func archivedExpressions(_ key: String) -> [NSExpression]? {
    guard containsValue(forKey: key) else { return nil }
    let list = decodeObject(of: [NSArray.self, NSExpression.self], forKey: key) as? NSArray
    return list?.map { $0 } as? [NSExpression]
  }

  func archivedTexts(_ key: String) -> [String] {
    guard containsValue(forKey: key) else { return [] }
    let list = decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? NSArray
    return (list ?? []).compactMap { $0 as? String }
  }

  func archivedPredicates(_ key: String) -> [NSPredicate]? {
    guard containsValue(forKey: key) else { return nil }
    let list = decodeObject(of: [NSArray.self, NSPredicate.self], forKey: key) as? NSArray
    return list?.map { $0 } as? [NSPredicate]
  }

  /// Returns a constant whose class is one of Foundation's.
  func archivedValue(_ key: String) -> Any? {
    guard containsValue(forKey: key) else { return nil }
    let classes: [AnyClass] = [
      NSString.self, NSNumber.self, NSDate.self, NSData.self, NSUUID.self, NSURL.self, NSNull.self,
      NSArray.self, NSSet.self, NSDictionary.self,
    ]
    return decodeObject(of: classes, forKey: key)
  }
}

extension NSCoder {
  /// Encodes an expression or a predicate that's a part of another one.
  func encodePart(_ part: some NSObject & NSCoding, forKey key: String) {
    encode(ArchivedPart(part), forKey: key)
  }

  /// Encodes expressions or predicates that are parts of another one.
  func encodeParts(_ parts: [some NSObject & NSCoding], forKey key: String) {
    encode(NSArray(array: parts.map { ArchivedPart($0) }), forKey: key)
  }
}

/// An expression or a predicate in an archive, which is equal only to itself.
///
/// Foundation's archiver on Linux encodes equal objects once, and `a / 2` is equal to `a / 2.0`.
private final class ArchivedPart: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }

  private let part: any NSObject & NSCoding

  init(_ part: any NSObject & NSCoding) {
    self.part = part
  }

  /// Returns `nil`: the archive has the part's class.
  init?(coder: NSCoder) {
    nil
  }

  override var classForCoder: AnyClass { type(of: part) }

  func encode(with coder: NSCoder) {
    part.encode(with: coder)
  }

  override func isEqual(_ object: Any?) -> Bool {
    (object as? ArchivedPart)?.part === part
  }

  override var hash: Int { ObjectIdentifier(part).hashValue }
}

/// The keys of archived predicates, expressions, and sort descriptors, which are Core Data's if
/// they're known.
enum PredicateArchiveKey {
  static let left = "NSLeftExpression"
  static let right = "NSRightExpression"
  static let operatorType = "NSOperatorType"
  static let modifier = "NSModifier"
  static let options = "NSOptions"
  static let selector = "NSSelectorName"
  static let compoundType = "NSCompoundPredicateType"
  static let subpredicates = "NSSubpredicates"
  static let value = "NSPredicateValue"
  static let expressionType = "NSExpressionType"
  static let constant = "NSConstantValue"
  static let constantClass = "NSConstantValueClassName"
  static let keys = "NSKeys"
  static let variable = "NSVariable"
  static let keyPath = "NSKeyPath"
  static let operand = "NSOperand"
  static let arguments = "NSArguments"
  static let collection = "NSCollection"
  static let predicate = "NSPredicate"
  static let yes = "NSTrueExpression"
  static let no = "NSFalseExpression"
  static let index = "NSSymbolicIndex"
  static let countOnly = "NSCountOnly"
}

extension PredicateValue {
  private typealias Key = PredicateArchiveKey

  /// Encodes a constant: an object of Foundation's, a number with its class, or a list of
  /// constants.
  ///
  /// Decimals are encoded as strings: Foundation's archiver on Linux crashes for an
  /// `NSDecimalNumber`. Integers are the only numbers that are objects, because it encodes equal
  /// objects once.
  func encode(with coder: NSCoder) {
    switch self {
    case .null: break
    case .bool(let value):
      coder.encode(value, forKey: Key.constant)
      coder.encode(NSString(string: "Bool"), forKey: Key.constantClass)
    case .integer(let value): coder.encode(NSNumber(value: value), forKey: Key.constant)
    case .double(let value):
      coder.encode(value, forKey: Key.constant)
      coder.encode(NSString(string: "Double"), forKey: Key.constantClass)
    case .decimal(let value):
      coder.encode(NSString(string: "\(value)"), forKey: Key.constant)
      coder.encode(NSString(string: "NSDecimalNumber"), forKey: Key.constantClass)
    case .string(let value): coder.encode(NSString(string: value), forKey: Key.constant)
    case .date(let value):
      let seconds = value.timeIntervalSinceReferenceDate
      coder.encode(NSDate(timeIntervalSinceReferenceDate: seconds), forKey: Key.constant)
    case .data(let value): coder.encode(NSData(data: value), forKey: Key.constant)
    case .uuid(let value):
      coder.encode(NSUUID(uuidString: value.uuidString), forKey: Key.constant)
    case .url(let value):
      coder.encode(NSString(string: value.absoluteString), forKey: Key.constant)
      coder.encode(NSString(string: "NSURL"), forKey: Key.constantClass)
    case .collection(let collection):
      encode(collection.elements, collection.isOrdered ? "NSArray" : "NSSet", with: coder)
    case .dictionary(let entries, _):
      let sorted = entries.sorted { $0.key < $1.key }
      coder.encode(NSArray(array: sorted.map { NSString(string: $0.key) }), forKey: Key.keys)
      encode(sorted.map(\.value), "NSDictionary", with: coder)
    case .object(let object):
      guard let coded = object.base as? NSObject, coded is any NSCoding else {
        fatalError("a \(type(of: object.base)) in a predicate can't be archived")
      }
      coder.encode(coded, forKey: Key.constant)
    case .placeholder(let text):
      fatalError("the placeholder \(text) has no argument and can't be archived")
    }
  }

  private func encode(_ elements: [PredicateValue], _ className: String, with coder: NSCoder) {
    let constants = elements.map { NSExpression(.constant($0)) }
    coder.encodeParts(constants, forKey: Key.collection)
    coder.encode(NSString(string: className), forKey: Key.constantClass)
  }

  /// Decodes a constant, or returns `nil` if it's missing or its class isn't one of Foundation's.
  init(coder: NSCoder) {
    let elements = (coder.archivedExpressions(Key.collection) ?? []).map { element in
      if case .constant(let value) = element.node { value } else { PredicateValue.null }
    }
    switch coder.archivedText(Key.constantClass) {
    case "Bool": self = .bool(coder.decodeBool(forKey: Key.constant))
    case "Double": self = .double(coder.decodeDouble(forKey: Key.constant))
    case "NSArray": self = .collection(PredicateCollection(constant: elements, isOrdered: true))
    case "NSSet": self = .collection(PredicateCollection(constant: elements, isOrdered: false))
    case "NSDictionary":
      let entries = Dictionary(
        zip(coder.archivedTexts(Key.keys), elements), uniquingKeysWith: { first, _ in first })
      self = .dictionary(entries, original: entries.mapValues { $0.original ?? NSNull() })
    case "NSDecimalNumber":
      self =
        coder.archivedText(Key.constant).flatMap { Decimal(string: $0) }
        .map(PredicateValue.decimal) ?? .null
    case "NSURL":
      self =
        coder.archivedText(Key.constant).flatMap { URL(string: $0) }.map(PredicateValue.url)
        ?? .null
    default: self = PredicateValue(constant: coder.archivedValue(Key.constant))
    }
  }
}

extension NSExpression.Node {
  private typealias Key = PredicateArchiveKey

  /// Encodes the node.
  ///
  /// Traps for blocks and for constants that can't be archived.
  func encode(with coder: NSCoder, type: NSExpression.ExpressionType) {
    coder.encode(Int(type.rawValue), forKey: Key.expressionType)
    switch self {
    case .constant(let value): value.encode(with: coder)
    case .evaluatedObject, .anyKey: break
    case .variable(let name): coder.encode(name as NSString, forKey: Key.variable)
    case .keyPath(let path): coder.encode(path.text as NSString, forKey: Key.keyPath)
    case .path(let operand, let path):
      encode(operand, "valueForKeyPath:", [path], with: coder)
    case .subscripted(let operand, .expression(let index)):
      encode(operand, "objectFrom:withIndex:", [index], with: coder)
    case .subscripted(let operand, let index):
      encode(operand, "objectFrom:withIndex:", [], with: coder)
      coder.encode(index.symbol, forKey: Key.index)
    case .function(let function, let arguments):
      encode(nil, function.rawValue, arguments, with: coder)
    case .method(let operand, let name, let arguments):
      encode(operand, name, arguments, with: coder)
    case .aggregate(let elements):
      coder.encodeParts(elements, forKey: Key.collection)
    case .setOperation(_, let left, let right):
      coder.encodePart(left, forKey: Key.left)
      coder.encodePart(right, forKey: Key.right)
    case .subquery(let collection, let variable, let predicate):
      coder.encodePart(collection, forKey: Key.collection)
      coder.encode(variable as NSString, forKey: Key.variable)
      coder.encodePart(predicate, forKey: Key.predicate)
    case .conditional(let predicate, let yes, let no):
      coder.encodePart(predicate, forKey: Key.predicate)
      coder.encodePart(yes, forKey: Key.yes)
      coder.encodePart(no, forKey: Key.no)
    case .assignment(let name, let value):
      coder.encode(name as NSString, forKey: Key.variable)
      coder.encodeParts([value], forKey: Key.arguments)
    case .fetch(let request, let context, let countOnly):
      coder.encodeParts([request, context], forKey: Key.arguments)
      coder.encode(countOnly ? 1 : 0, forKey: Key.countOnly)
    case .block: fatalError("an expression with a block can't be archived")
    }
  }

  private func encode(
    _ operand: NSExpression?, _ selector: String, _ arguments: [NSExpression],
    with coder: NSCoder
  ) {
    if let operand { coder.encodePart(operand, forKey: Key.operand) }
    coder.encode(selector as NSString, forKey: Key.selector)
    coder.encodeParts(arguments, forKey: Key.arguments)
  }

  /// Decodes a node, or returns `nil` if the archive has none of a known type.
  init?(coder: NSCoder) {
    let type = coder.archivedInteger(Key.expressionType)
    switch UInt(exactly: type).flatMap(NSExpression.ExpressionType.init) {
    case .constantValue:
      self = .constant(PredicateValue(coder: coder))
    case .evaluatedObject: self = .evaluatedObject
    case .anyKey: self = .anyKey
    case .variable:
      guard let name = coder.archivedText(Key.variable) else { return nil }
      if let value = coder.archivedExpressions(Key.arguments)?.first {
        self = .assignment(name, value)
      } else {
        self = .variable(name)
      }
    case .keyPath:
      guard let text = coder.archivedText(Key.keyPath) else { return nil }
      self = .keyPath(PredicateKeyPath(text))
    case .function:
      guard let node = Self.function(coder) else { return nil }
      self = node
    case .aggregate:
      guard let elements = coder.archivedExpressions(Key.collection) else { return nil }
      self = .aggregate(elements)
    case .unionSet, .intersectSet, .minusSet:
      guard let left = coder.archivedExpression(Key.left),
        let right = coder.archivedExpression(Key.right)
      else { return nil }
      let operations: [Int: NSExpression.SetOperation] = [5: .union, 6: .intersect, 7: .minus]
      self = .setOperation(operations[type] ?? .union, left, right)
    case .subquery:
      guard let collection = coder.archivedExpression(Key.collection),
        let name = coder.archivedText(Key.variable),
        let predicate = coder.archivedPredicate(Key.predicate)
      else { return nil }
      self = .subquery(collection, variable: name, predicate)
    case .conditional:
      guard let predicate = coder.archivedPredicate(Key.predicate),
        let yes = coder.archivedExpression(Key.yes), let no = coder.archivedExpression(Key.no)
      else { return nil }
      self = .conditional(predicate, yes, no)
    case .fetchRequest:
      guard let parts = coder.archivedExpressions(Key.arguments), parts.count == 2 else {
        return nil
      }
      self = .fetch(
        parts[0], context: parts[1], countOnly: coder.archivedInteger(Key.countOnly) == 1)
    case .block, nil: return nil
    }
  }

  private static func function(_ coder: NSCoder) -> NSExpression.Node? {
    guard let name = coder.archivedText(Key.selector),
      let arguments = coder.archivedExpressions(Key.arguments)
    else { return nil }
    guard let operand = coder.archivedExpression(Key.operand) else {
      guard let function = PredicateFunction(rawValue: name), function.accepts(arguments.count)
      else { return nil }
      return .function(function, arguments)
    }
    switch name {
    case "valueForKeyPath:":
      return arguments.first.map { .path(operand, $0) }
    case "objectFrom:withIndex:":
      let index = arguments.first.map { NSExpression.Index.expression($0) }
      return (index ?? NSExpression.Index(symbol: coder.archivedInteger(Key.index)))
        .map { .subscripted(operand, $0) }
    default: return .method(operand, name, arguments)
    }
  }
}

extension NSExpression.Origin {
  init(coder: NSCoder) {
    let isNull =
      !coder.containsValue(forKey: PredicateArchiveKey.constantClass)
      && coder.containsValue(forKey: PredicateArchiveKey.constant)
      && coder.archivedValue(PredicateArchiveKey.constant) is NSNull
    self = isNull ? .null : .node
  }
}

extension NSExpression.Index {
  fileprivate var symbol: Int {
    switch self {
    case .first: 1
    case .last: 2
    case .size: 3
    case .expression: 0
    }
  }

  fileprivate init?(symbol: Int) {
    switch symbol {
    case 1: self = .first
    case 2: self = .last
    case 3: self = .size
    default: return nil
    }
  }
}
