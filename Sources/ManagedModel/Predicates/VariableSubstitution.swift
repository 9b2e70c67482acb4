/// Copies a tree, replacing variables and completed fetches with values, or objects with URIs.
///
/// The variable of a subquery hides one of the same name.
struct VariableSubstitution {
  private var values: [String: NSExpression] = [:]
  /// The replacement for each `FETCH`.
  private var fetched: [ObjectIdentifier: NSExpression] = [:]
  /// Whether managed objects and their IDs are replaced with URIs.
  private var namesObjects = false

  init(variables: [String: Any]) {
    values = variables.mapValues { $0 as? NSExpression ?? NSExpression(forConstantValue: $0) }
  }

  init(fetched: [ObjectIdentifier: NSExpression]) {
    self.fetched = fetched
  }

  init(namesObjects: Bool) {
    self.namesObjects = namesObjects
  }

  func predicate(_ predicate: NSPredicate) -> NSPredicate {
    switch predicate.form {
    case .comparison(let comparison):
      NSComparisonPredicate(
        like: comparison, left: expression(comparison.leftExpression),
        right: expression(comparison.rightExpression))
    case .compound(let type, let predicates):
      NSCompoundPredicate(type: type, subpredicates: predicates.map(self.predicate))
    case .constant, .block, .unknown: predicate
    }
  }

  func expression(_ expression: NSExpression) -> NSExpression {
    switch expression.node {
    case .constant(let value) where namesObjects: NSExpression(.constant(named(value)))
    case .constant, .evaluatedObject, .keyPath, .anyKey: expression
    case .variable(let name): values[name] ?? expression
    case .path(let operand, let path):
      self.path(self.expression(operand), path, origin: expression.origin)
    case .subscripted(let operand, let index):
      NSExpression(.subscripted(self.expression(operand), self.index(index)))
    case .function(let function, let arguments):
      NSExpression(.function(function, arguments.map(self.expression)))
    case .method(let operand, let name, let arguments):
      NSExpression(.method(self.expression(operand), name, arguments.map(self.expression)))
    case .aggregate(let elements): NSExpression(.aggregate(elements.map(self.expression)))
    case .setOperation(let operation, let left, let right):
      NSExpression(.setOperation(operation, self.expression(left), self.expression(right)))
    case .subquery(let collection, let variable, let predicate):
      NSExpression(
        .subquery(
          self.expression(collection), variable: variable,
          without(variable).predicate(predicate)))
    case .conditional(let predicate, let yes, let no):
      NSExpression(
        .conditional(self.predicate(predicate), self.expression(yes), self.expression(no)))
    case .block(let block, let arguments):
      NSExpression(.block(block, arguments.map(self.expression)))
    case .assignment(let name, let value):
      NSExpression(.assignment(name, self.expression(value)))
    case .fetch where namesObjects: NSExpression(.constant(.string("FETCH")))
    case .fetch(let request, let context, let countOnly):
      fetched[ObjectIdentifier(expression)]
        ?? NSExpression(
          .fetch(
            self.expression(request), context: self.expression(context), countOnly: countOnly))
    }
  }

  /// Returns a path with its variable substituted.
  ///
  /// A variable after a dot with a string as its value is a key path, which is appended to a path
  /// from the object.
  ///
  /// - Parameter origin: How the path was made; a variable that remains keeps it.
  private func path(
    _ operand: NSExpression, _ path: NSExpression, origin: NSExpression.Origin
  ) -> NSExpression {
    let path = expression(path)
    let keyPath: PredicateKeyPath
    switch path.node {
    case .keyPath(let found): keyPath = found
    case .constant(.string(let text)): keyPath = PredicateKeyPath(text)
    default: return NSExpression(.path(operand, path))
    }
    switch operand.node {
    case .evaluatedObject: return NSExpression(.keyPath(keyPath))
    case .keyPath(let first):
      let components = first.components + keyPath.components
      return NSExpression(.keyPath(PredicateKeyPath(components: components)))
    case .constant(.object(let object)) where object.base is any KeyValueReadable:
      // This is the object's current value; a store can only use the constant.
      let path = NSExpression(.path(operand, NSExpression(.keyPath(keyPath))))
      var evaluator = PredicateEvaluator(root: nil)
      return (try? evaluator.value(of: path)).map { NSExpression(.constant($0)) } ?? path
    case .variable:
      return NSExpression(.path(operand, NSExpression(.keyPath(keyPath))), origin: origin)
    default: return NSExpression(.path(operand, NSExpression(.keyPath(keyPath))))
    }
  }

  private func named(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .object(let object):
      return (object.base as? any URIRepresentable).map { PredicateValue.string($0.uri) } ?? value
    case .collection(let collection):
      return .collection(
        PredicateCollection(
          constant: collection.elements.map(named), isOrdered: collection.isOrdered,
          isSet: collection.isSet))
    default: return value
    }
  }

  private func index(_ index: NSExpression.Index) -> NSExpression.Index {
    guard case .expression(let inner) = index else { return index }
    return .expression(expression(inner))
  }

  private func without(_ name: String) -> VariableSubstitution {
    var copy = self
    copy.values[name] = nil
    return copy
  }
}

extension NSPredicate {
  /// Returns the predicate with each `FETCH` replaced by its result.
  ///
  /// Each fetch runs once, regardless of how often the predicate is evaluated afterward. A `FETCH`
  /// whose request or context isn't a constant remains. Returns the predicate itself if there's no
  /// `FETCH`.
  ///
  /// - Throws: The fetch's error, with its description.
  package func withFetchesRun() throws -> NSPredicate {
    guard containsFetch else { return self }
    var results: [ObjectIdentifier: NSExpression] = [:]
    var failure: (any Error)?
    forEachExpression { expression in
      guard failure == nil, case .fetch(let request, let context, _) = expression.node,
        case .constant = request.node, case .constant = context.node,
        results[ObjectIdentifier(expression)] == nil
      else { return }
      do {
        results[ObjectIdentifier(expression)] = NSExpression(
          .constant(try expression.value(for: nil)))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return results.isEmpty ? self : VariableSubstitution(fetched: results).predicate(self)
  }

  /// The format with URIs instead of managed objects and their IDs, and without the requests and
  /// contexts of `FETCH`, whose descriptions have addresses and values: the same in each process.
  package var formatWithURIs: String {
    VariableSubstitution(namesObjects: true).predicate(self).predicateFormat
  }

  fileprivate var containsFetch: Bool {
    switch form {
    case .comparison(let comparison):
      comparison.leftExpression.containsFetch || comparison.rightExpression.containsFetch
    case .compound(_, let parts): parts.contains(where: \.containsFetch)
    case .constant, .block, .unknown: false
    }
  }
}

extension NSExpression {
  fileprivate var containsFetch: Bool {
    switch node {
    case .fetch: true
    case .constant, .keyPath, .variable, .evaluatedObject, .anyKey: false
    default:
      node.children.contains(where: \.containsFetch) || node.childPredicate?.containsFetch == true
    }
  }
}

/// A fetch request for `FETCH(…)`; this module doesn't depend on stores.
package protocol FetchedByExpressions {
  /// Returns the objects of the fetch, or their number.
  ///
  /// - Throws: An error if the context isn't a managed object context, or the error of the fetch.
  func result(in context: Any?, countOnly: Bool) throws -> Any
}
