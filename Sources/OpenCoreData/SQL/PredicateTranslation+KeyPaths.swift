import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Resolves a key path from the object of a scope.
  func walk(
    _ components: ArraySlice<PredicateKeyPath.Component>, in scope: TranslationScope,
    at site: Site, text: String
  ) throws(TranslationError) -> SQLOperand {
    guard let start = scope.start else {
      fatalError("A scope begins before key paths are followed in it.")
    }
    return try walk(components, from: start, in: scope, at: site, text: text)
  }

  func walk(
    _ components: ArraySlice<PredicateKeyPath.Component>, from start: TranslationPosition,
    in scope: TranslationScope, at site: Site, text: String
  ) throws(TranslationError) -> SQLOperand {
    let isRequired = site.isRequired && scope === site.scope
    var position = start
    var rest = components
    while let component = rest.popFirst() {
      let key: String
      switch component {
      case .key(let name): key = name
      case .operator(let found):
        throw TranslationError(text, "\(found.rawValue) can follow only a to-many relationship.")
      case .placeholder:
        throw TranslationError(text, "The placeholder %K has no key.")
      }
      let entity = position.entity
      guard let property = entity.description.propertiesByName[key] else {
        if ["self", "SELF", "objectID"].contains(key) { continue }
        if key == "entity" {
          let alias = try scope.alias(of: position, isRequired: isRequired, in: text)
          return try entityOperand(entity, alias: alias, rest, text: text)
        }
        throw TranslationError(unknownKey: key, in: text, of: entity.description)
      }
      if property.isTransient {
        throw TranslationError(
          text,
          "\(entity.name).\(key) is transient: the store has no column for it. "
            + "Filter or sort the fetched objects instead.")
      }
      if let toMany = entity.toMany[key] {
        return .toMany(
          ToManyPath(
            scope: scope, source: position, relationship: toMany, rest: Array(rest), text: text))
      }
      var path = key
      if let composite = property as? NSCompositeAttributeDescription {
        path = try element(of: composite, &rest, entity, text: text)
      }
      guard let column = entity.column(named: path) else {
        throw TranslationError(text, "\(entity.name).\(path) isn't stored.")
      }
      let alias = try scope.alias(of: position, isRequired: isRequired, in: text)
      let name = "\(alias).\(SQLSyntax.quoted(column.name))"
      if let attribute = column.property as? NSAttributeDescription {
        guard rest.isEmpty else {
          throw TranslationError(
            text, "\(entity.name).\(path) is an attribute; a key path can't continue past it.")
        }
        return .attribute(SQLFragment(sql: " \(name)"), attribute)
      }
      guard let relationship = property as? NSRelationshipDescription,
        let destination = relationship.destinationEntity.flatMap(translator.model.storedEntity)
      else {
        throw TranslationError(text, "\(entity.name).\(key) isn't stored.")
      }
      position = TranslationPosition(entity: destination, key: name, holder: alias)
    }
    return .object(SQLFragment(sql: " \(position.key)"), position.entity)
  }

  /// Returns the path of the column for the keys after a composite attribute; consumes those keys.
  private func element(
    of composite: NSCompositeAttributeDescription,
    _ rest: inout ArraySlice<PredicateKeyPath.Component>, _ entity: SQLEntity, text: String
  ) throws(TranslationError) -> String {
    var path = composite.name
    var group: NSCompositeAttributeDescription? = composite
    while let current = group {
      let names = current.elements.map(\.name).sorted()
      guard case .key(let key)? = rest.popFirst() else {
        throw TranslationError(
          text,
          "\(entity.name).\(path) is a composite attribute, which has no column. "
            + "Specify one of its elements: "
            + names.prefix(12).map { "\(path).\($0)" }.joined(separator: ", ") + ".")
      }
      guard let found = current.elements.first(where: { $0.name == key }) else {
        var error = TranslationError(text, "\(entity.name).\(path) has no element \(key).")
        error.suggestion = NearestName.of(key, among: names)
        error.choices = names
        throw error
      }
      path += ".\(key)"
      group = found as? NSCompositeAttributeDescription
    }
    return path
  }

  /// Returns the entity of an object, or its name.
  private func entityOperand(
    _ entity: SQLEntity, alias: String, _ rest: ArraySlice<PredicateKeyPath.Component>,
    text: String
  ) throws(TranslationError) -> SQLOperand {
    let isName = rest.first == .key("name")
    guard rest.isEmpty || (isName && rest.count == 1) else {
      throw TranslationError(text, "The store contains only an entity's name.")
    }
    return .entity(SQLFragment(sql: " \(alias).\(SQLNames.entity)"), entity, isName: isName)
  }

  /// Returns a subselect over the objects at the other end of a to-many relationship.
  ///
  /// - Parameters:
  ///   - list: Returns the select list, from the position of an element and its table's key column.
  ///   - condition: The condition on an element; `nil` for all.
  func subselect(
    _ path: ToManyPath, at site: Site,
    list: (TranslationPosition, Site) throws(TranslationError) -> SQLFragment,
    where condition: ((TranslationPosition, Site) throws(TranslationError) -> SQLCondition)?
  ) throws(TranslationError) -> SQLFragment {
    hasSubselects = true
    let scope = TranslationScope(
      entity: path.relationship.destination, variable: path.filter?.variable, aliases: aliases)
    let alias = aliases.next()
    let (position, table, back) = elements(of: path, alias: alias)
    scope.begin(at: position)
    let inner = Site(scopes: site.scopes + [scope], isRequired: true)
    // In the order of the text, which the bound values must have too.
    let selected = try list(position, inner)
    var conditions: [SQLCondition] = []
    if let filter = path.filter {
      conditions.append(try self.condition(filter.predicate, at: inner))
    }
    if let condition { conditions.append(try condition(position, inner)) }
    var filter: SQLFragment = "(\(raw: path.source.key) = \(raw: back)"
    switch SQLCondition.all(conditions) {
    case .constant(true): break
    case .constant(false): filter = filter + " AND 0 = 1"
    case .sql(let condition):
      filter = filter + " AND " + condition.inParentheses
    }
    let from = "\(SQLSyntax.quoted(table)) \(alias)\(scope.text)"
    return "(SELECT \(selected) FROM \(raw: from) WHERE \(filter)) )"
  }

  /// Returns the elements of a to-many: their position, the table to read, and its column with the
  /// key of the source.
  private func elements(
    of path: ToManyPath, alias: String
  ) -> (position: TranslationPosition, table: String, back: String) {
    let destination = path.relationship.destination
    switch path.relationship.storage {
    case .foreignKey(let column, _):
      return (
        TranslationPosition(entity: destination, alias: alias), destination.table,
        "\(alias).\(SQLSyntax.quoted(column))"
      )
    case .joinTable(let table, let source, let column, _):
      let position = TranslationPosition(
        entity: destination, key: "\(alias).\(SQLSyntax.quoted(column))", holder: alias,
        alias: aliases.next())
      return (position, table, "\(alias).\(SQLSyntax.quoted(source))")
    }
  }

  /// Joins the elements of a to-many to the query's own rows, separately for each call.
  ///
  /// - Parameter isRequired: Whether rows without elements may be removed.
  func join(_ path: ToManyPath, isRequired: Bool) -> TranslationPosition {
    let alias = aliases.next()
    let (position, table, back) = elements(of: path, alias: alias)
    let holder =
      switch path.source.location {
      case .table(let alias): alias
      case .reference(let holder, _): holder
      }
    path.scope.joinMany(
      table, alias: alias, on: "\(path.source.key) = \(back)", parent: holder,
      isRequired: isRequired)
    return position
  }
}
