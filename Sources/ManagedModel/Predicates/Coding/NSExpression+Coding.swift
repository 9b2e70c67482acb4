internal import Foundation

extension NSExpression.Node {
  private typealias Key = PredicateArchiveKey

  /// Writes the node; traps with a sentence for blocks and for constants that cannot be archived.
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
      coder.encode(NSArray(array: elements), forKey: Key.collection)
    case .setOperation(_, let left, let right):
      coder.encode(left, forKey: Key.left)
      coder.encode(right, forKey: Key.right)
    case .subquery(let collection, let variable, let predicate):
      coder.encode(collection, forKey: Key.collection)
      coder.encode(variable as NSString, forKey: Key.variable)
      coder.encode(predicate, forKey: Key.predicate)
    case .conditional(let predicate, let yes, let no):
      coder.encode(predicate, forKey: Key.predicate)
      coder.encode(yes, forKey: Key.yes)
      coder.encode(no, forKey: Key.no)
    case .assignment(let name, let value):
      coder.encode(name as NSString, forKey: Key.variable)
      coder.encode(NSArray(object: value), forKey: Key.arguments)
    case .fetch(let request, let context, let countOnly):
      coder.encode(NSArray(array: [request, context]), forKey: Key.arguments)
      coder.encode(countOnly ? 1 : 0, forKey: Key.countOnly)
    case .block: preconditionFailure("an expression with a block cannot be archived")
    }
  }

  private func encode(
    _ operand: NSExpression?, _ selector: String, _ arguments: [NSExpression],
    with coder: NSCoder
  ) {
    if let operand { coder.encode(operand, forKey: Key.operand) }
    coder.encode(selector as NSString, forKey: Key.selector)
    coder.encode(NSArray(array: arguments), forKey: Key.arguments)
  }

  /// Reads a node; nil when the archive has none that is known.
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
      coder.containsValue(forKey: PredicateArchiveKey.constant)
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
