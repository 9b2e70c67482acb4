import OpenCoreData
import PostgresDriver

import class ManagedModel.NSCompositeAttributeDescription
import class ManagedModel.NSFetchedPropertyDescription

extension PredicateTranslator {
  /// Resolves a key path from the object of a scope.
  func walk(
    _ keys: ArraySlice<String>, in scope: PredicateScope, text: String
  ) throws -> PredicateOperand {
    try walk(keys, from: scope.start, in: scope, text: text)
  }

  /// Resolves a key path from a position.
  func walk(
    _ keys: ArraySlice<String>, from start: PredicatePosition, in scope: PredicateScope,
    text: String
  ) throws -> PredicateOperand {
    var position = start
    var rest = keys
    while let key = rest.popFirst() {
      let mapping = position.mapping
      guard let property = mapping.entity.propertiesByName[key] else {
        if ["self", "SELF", "objectID"].contains(key) { continue }
        if key == "entity" { return try entity(of: position, rest, in: scope, text: text) }
        throw TranslationError(
          text,
          "\(mapping.name) has no property \(key). There are: "
            + mapping.entity.propertiesByName.keys.sorted().joined(separator: ", ") + ".")
      }
      if property.isTransient || property is NSFetchedPropertyDescription {
        throw TranslationError(
          text, "\(mapping.name).\(key) isn't stored, so SQL can't compare it.")
      }
      if let toMany = mapping.toManys[key] {
        return .toMany(
          ToManyPath(
            scope: scope, source: position, toMany: toMany, rest: Array(rest), text: text))
      }
      if let toOne = mapping.toOne(key), let destination = schema.entities[toOne.destination] {
        let alias = scope.alias(of: position)
        position = PredicatePosition(destination, key: "\(alias).\(toOne.column)")
        continue
      }
      var path = key
      while mapping.attribute(path) == nil, let element = rest.popFirst() { path += ".\(element)" }
      guard let column = mapping.attribute(path) else {
        throw TranslationError(
          text,
          "\(mapping.name).\(path) has no column. Specify an element of the composite attribute: "
            + mapping.attributes.map(\.keyPath).filter { $0.hasPrefix(path + ".") }
            .joined(separator: ", ") + ".")
      }
      guard rest.isEmpty else {
        throw TranslationError(
          text, "\(mapping.name).\(path) is an attribute; a key path can't continue past it.")
      }
      let text = "\(scope.alias(of: position)).\(column.name)"
      columns[text] = StoredColumn(table: mapping.table.name, name: column.name)
      return .value(SQLText(raw: text), ValueKind(column))
    }
    return .object(SQLText(raw: position.key), position.mapping)
  }

  private func entity(
    of position: PredicatePosition, _ rest: ArraySlice<String>, in scope: PredicateScope,
    text: String
  ) throws -> PredicateOperand {
    let isName = Array(rest) == ["name"]
    guard rest.isEmpty || isName else {
      throw TranslationError(text, "The store has only the name of an entity.")
    }
    let alias = scope.alias(of: position)
    return .entity(
      SQLText(raw: "\(alias).\(SystemColumn.entity)"), position.mapping, isName: isName)
  }

  // MARK: To-many relationships

  typealias ElementText = (PredicatePosition, [PredicateScope]) throws -> SQLText

  /// Returns a subselect over the objects at the other end of a to-many relationship.
  ///
  /// - Parameters:
  ///   - list: Returns the select list for an element.
  ///   - condition: Returns a condition on an element; nil for all.
  func subselect(
    _ path: ToManyPath, in scopes: [PredicateScope], list: ElementText,
    where condition: ElementText? = nil
  ) throws -> SQLText {
    guard let destination = schema.entities[path.toMany.destination] else {
      throw TranslationError(path.text, "The destination isn't in the store.")
    }
    let alias = aliases.next()
    let (position, table, back): (PredicatePosition, String, String)
    switch path.toMany.storage {
    case .column(let home, let column, _):
      (position, table, back) = (
        PredicatePosition(destination, alias: alias), home.name, "\(alias).\(column)"
      )
    case .join(let name, let source, let target, _):
      (position, table, back) = (
        PredicatePosition(destination, key: "\(alias).\(target)"), name, "\(alias).\(source)"
      )
    }
    let scope = PredicateScope(position, variable: path.filter?.variable, aliases)
    let inner = scopes + [scope]
    let selected = try list(position, inner)
    var conditions: [SQLText] = [SQLText(raw: "\(back) = \(path.source.key)")]
    if let filter = path.filter {
      conditions.append(try self.condition(filter.predicate, in: inner))
    }
    if let condition { conditions.append(try condition(position, inner)) }
    return
      "(SELECT \(selected) FROM \(raw: "\(table) \(alias)\(scope.joins)") WHERE \(.all(conditions)))"
  }

  typealias ElementTest = (PredicateOperand, [PredicateScope]) throws -> SQLText

  /// Returns the condition that an element of a to-many satisfies a test.
  ///
  /// - Parameter skipsNil: Whether the test may be true for nil, which a key path over a set leaves
  ///   out.
  func some(
    of path: ToManyPath, in scopes: [PredicateScope], skipsNil: Bool, _ test: @escaping ElementTest
  ) throws -> SQLText {
    let elements = try subselect(path, in: scopes, list: { _, _ in "1" }) { position, inner in
      let found = try self.element(of: path, at: position, inner)
      if case .toMany(let next) = found {
        return try self.some(of: next, in: inner, skipsNil: skipsNil, test)
      }
      let present = skipsNil && !path.rest.isEmpty ? [try self.nilTest(found, isNil: false)] : []
      return .all(present + [try test(found, inner)])
    }
    return "EXISTS \(elements)"
  }

  /// Returns the condition that there is no element of a to-many for which a test isn't true.
  func every(
    of path: ToManyPath, in scopes: [PredicateScope], _ test: @escaping ElementTest
  ) throws -> SQLText {
    let elements = try subselect(path, in: scopes, list: { _, _ in "1" }) { position, inner in
      let found = try self.element(of: path, at: position, inner)
      if case .toMany(let next) = found {
        return "NOT (\(try self.every(of: next, in: inner, test)))"
      }
      let present = path.rest.isEmpty ? [] : [try self.nilTest(found, isNil: false)]
      return .all(present + ["(\(try test(found, inner))) IS NOT TRUE"])
    }
    return "NOT EXISTS \(elements)"
  }

  private func element(
    of path: ToManyPath, at position: PredicatePosition, _ scopes: [PredicateScope]
  ) throws -> PredicateOperand {
    let found = try walk(
      path.rest[...], from: position, in: scopes[scopes.count - 1], text: path.text)
    if case .toMany(let inner) = found, inner.rest.first?.hasPrefix("@") == true {
      throw TranslationError(
        path.text, "SQL can't combine the elements of two to-many relationships. Use SUBQUERY.")
    }
    return found
  }
}
