import ManagedModel
import SQLiteDriver

extension PredicateTranslation {
  /// Returns the operand for an expression at a site in the statement.
  func operand(_ expression: NSExpression, at site: Site) throws(TranslationError) -> SQLOperand {
    if expression.isIndependentOfObject { return .constant(try constant(expression)) }
    switch expression.node {
    case .evaluatedObject:
      return try walk([], in: site.scopes[0], at: site, text: "SELF")
    case .variable(let name):
      if let column = computedColumn(name) { return column }
      return try walk([], in: try scope(of: name, at: site), at: site, text: "$\(name)")
    case .keyPath(let path):
      // A function over the rows reads their property, even if a computed value has its name.
      if let key = path.onlyKey,
        aggregatesRows || root.entity.description.propertiesByName[key] == nil,
        let column = computedColumn(key)
      {
        return column
      }
      if let found = try rowAggregate(path, at: site) { return found }
      return try walk(path.components[...], in: site.scopes[0], at: site, text: path.text)
    case .path(let base, let path):
      return try pathOperand(base, path, at: site, text: expression.description)
    case .subscripted(let collection, .size):
      return try count(try operand(collection, at: site), at: site, expression)
    case .function(let function, let arguments):
      return try functionOperand(function, arguments, at: site, expression)
    case .aggregate(let elements):
      return .list(elements)
    case .subquery(let collection, let variable, let predicate):
      return .toMany(try subquery(collection, variable, predicate, at: site))
    case .conditional(let predicate, let yes, let no):
      return try conditional(predicate, yes, no, at: site)
    case .constant, .subscripted, .method, .setOperation, .anyKey, .block, .assignment, .fetch:
      throw TranslationError(expression.description, Self.reason(expression))
    }
  }

  /// Returns the reason why an expression that depends on the row has no SQL.
  private static func reason(_ expression: NSExpression) -> String {
    switch expression.node {
    case .subscripted: "Rows have no index in a list; subscripts can be evaluated only in memory."
    case .method: "A method can be called only in memory."
    case .setOperation:
      "Combined collections can be evaluated only in memory; they can't be translated to SQL."
    case .anyKey: "ANYKEY is for dictionaries; it can't be translated to SQL."
    case .block: "A block can be evaluated only in memory; it can't be translated to SQL."
    default: "This expression can't be translated to SQL."
    }
  }

  private func pathOperand(
    _ base: NSExpression, _ path: NSExpression, at site: Site, text: String
  ) throws(TranslationError) -> SQLOperand {
    guard case .keyPath(let keyPath) = path.node else {
      throw TranslationError(
        text, "A key path that's only known at run time can't be translated to SQL.")
    }
    switch base.node {
    case .variable(let name):
      return try walk(
        keyPath.components[...], in: try scope(of: name, at: site), at: site, text: text)
    case .evaluatedObject:
      return try walk(keyPath.components[...], in: site.scopes[0], at: site, text: text)
    case .keyPath(let first):
      return try walk(
        (first.components + keyPath.components)[...], in: site.scopes[0], at: site, text: text)
    case .subquery(let collection, let variable, let predicate):
      let found = try subquery(collection, variable, predicate, at: site)
      return .toMany(
        ToManyPath(
          scope: found.scope, source: found.source, relationship: found.relationship,
          rest: keyPath.components, text: text, filter: found.filter))
    default:
      throw TranslationError(text, Self.reason(base))
    }
  }

  /// Returns the scope of a variable.
  private func scope(
    of variable: String, at site: Site
  ) throws(TranslationError) -> TranslationScope {
    if let scope = site.scopes.last(where: { $0.variable == variable }) { return scope }
    throw TranslationError("$\(variable)", "The variable has no value.")
  }

  private func subquery(
    _ collection: NSExpression, _ variable: String, _ predicate: NSPredicate, at site: Site
  ) throws(TranslationError) -> ToManyPath {
    guard case .toMany(let path) = try operand(collection, at: site), path.rest.isEmpty,
      path.filter == nil
    else {
      throw TranslationError(
        collection.description, "SUBQUERY takes a path that ends in a to-many relationship.")
    }
    return ToManyPath(
      scope: path.scope, source: path.source, relationship: path.relationship, rest: [],
      text: path.text, filter: (variable, predicate))
  }

  private func conditional(
    _ predicate: NSPredicate, _ yes: NSExpression, _ no: NSExpression, at site: Site
  ) throws(TranslationError) -> SQLOperand {
    let condition = try condition(predicate, at: site.optional).fragment
    let (values, type) = Self.unified([
      try value(of: yes, at: site.optional), try value(of: no, at: site.optional),
    ])
    return .computed(
      "CASE WHEN \(condition) THEN \(values[0]) ELSE \(values[1]) END", type ?? .text)
  }
}

extension PredicateTranslation {
  /// Returns `CAST(value, "NSNumber")` and similar calls.
  ///
  /// Between numbers and dates no conversion is needed: a date is stored as a number.
  func cast(
    _ arguments: [NSExpression], at site: Site, _ expression: NSExpression
  ) throws(TranslationError) -> SQLOperand {
    guard case .constant(let name) = try operand(arguments[1], at: site),
      let target = name.value.string.flatMap(CastTarget.init)
    else {
      throw TranslationError(
        expression.description,
        "CAST converts to one of: " + CastTarget.allCases.map(\.rawValue).joined(separator: ", ")
          + ".")
    }
    let found = try operand(arguments[0], at: site)
    let (fragment, type) = try value(of: found, arguments[0], at: site)
    let source = Self.attributeType(of: found, type)
    let result = target.storedType
    switch (target, source) {
    case (.number, .dateAttributeType), (.decimal, .dateAttributeType):
      // Treated as a number that may be stored as an integer.
      return .computed(fragment, .decimal)
    case (.number, _) where type?.isNumber == true: return .computed(fragment, type ?? .integer)
    case (.decimal, _), (.date, _):
      if type?.isNumber == true { return .computed(fragment, result) }
    case (.string, _) where type == .text: return .computed(fragment, .text)
    default: break
    }
    return call(
      .cast,
      [
        fragment, "\(bind: .text(target.rawValue))",
        "\(bind: .integer(Int64(source.rawValue)))",
      ], result)
  }

  /// Returns the attribute type of an operand's values.
  private static func attributeType(
    of operand: SQLOperand, _ type: StoredType?
  ) -> NSAttributeType {
    if case .attribute(_, let attribute) = operand { return attribute.attributeType }
    switch type {
    case .timestamp: return .dateAttributeType
    case .uuid: return .UUIDAttributeType
    case .decimal: return .decimalAttributeType
    default: return .undefinedAttributeType
    }
  }
}

extension CastTarget {
  /// The type in which a value is stored.
  fileprivate var storedType: StoredType {
    switch self {
    case .number: .real
    case .decimal: .decimal
    case .string, .url: .text
    case .date: .timestamp
    case .data: .binary
    case .uuid: .uuid
    }
  }
}

extension PredicateTranslation {
  /// Returns the value of an expression that doesn't depend on the row.
  func constant(_ expression: NSExpression) throws(TranslationError) -> PredicateConstant {
    if let shape, let index = shape.index(of: expression) {
      return PredicateConstant(
        value: shape.constants[index], origin: ConstantOrigin(index: index))
    }
    let value: PredicateValue
    do {
      value = try expression.value(for: nil).asConstant
    } catch {
      throw TranslationError(expression.description, "\(error)")
    }
    if case .placeholder(let text) = value {
      throw TranslationError(text, "The placeholder has no value.")
    }
    return PredicateConstant(value: value)
  }

  /// Binds a constant with its own type.
  ///
  /// The type is `nil` for `nil`.
  func plain(
    _ constant: PredicateConstant, _ expression: NSExpression
  ) throws(TranslationError) -> (value: SQLBind, type: StoredType?) {
    guard let bind = bind(constant, as: .plain) else {
      throw TranslationError(expression.description, "This isn't a single value.")
    }
    return (bind, StoredType(of: constant.value))
  }

  /// Binds a constant as the type of the column it's compared with.
  func bind(
    _ constant: PredicateConstant, as type: StoredType, _ attribute: NSAttributeDescription?,
    _ rules: ComparisonRules
  ) throws(TranslationError) -> SQLBind {
    let form = attribute.map { BindForm.stored(type, $0) } ?? .computed(type)
    if let bind = bind(constant, as: form) { return bind }
    if let attribute, AttributeTransformer(attribute) != nil {
      throw TranslationError(
        rules.piece,
        "\(constant.value.summary) can't be compared with \(attribute): SQL compares the bytes in "
          + "rows, which a transformable value doesn't determine if it's archived or large. Filter the "
          + "fetched objects instead.")
    }
    if let attribute, attribute.hasExternalValues, constant.value.stored(as: type) != nil {
      throw tooLarge(for: attribute, rules)
    }
    let name = attribute.map { "\($0)" } ?? "a value of the type \(type.declaration)"
    throw TranslationError(rules.piece, "\(constant.value.summary) can't be compared with \(name).")
  }

  /// Binds a constant in some form; `nil` if it has none.
  func bind(_ constant: PredicateConstant, as form: BindForm) -> SQLBind? {
    guard let value = form.value(of: constant.value, for: translator) else { return nil }
    return constant.origin.map { .constant($0, form) } ?? .value(value)
  }
}

extension PredicateValue {
  /// The value as a constant of a statement: `nil`, which has an SQL text of its own, instead of
  /// what isn't a number.
  var asConstant: PredicateValue {
    if case .collection(let collection) = self { return .collection(collection.nilIfNotNumbers) }
    return nilIfNotANumber
  }

  /// The value's description for a message.
  fileprivate var summary: String {
    switch self {
    case .string(let text): "The text \"\(text)\""
    case .bool(let value): value ? "YES" : "NO"
    case .integer(let value): "The number \(value)"
    case .double(let value): "The number \(value)"
    case .decimal(let value): "The number \(value)"
    case .date(let date): "The date \(date)"
    case .data: "Data"
    case .uuid(let uuid): "The UUID \(uuid)"
    case .url(let url): "The URL \(url)"
    case .collection: "A collection"
    case .dictionary: "A dictionary"
    case .object(let object): "A \(type(of: object.base))"
    case .null: "nil"
    case .placeholder(let text): "The placeholder \(text)"
    }
  }
}

extension PredicateTranslation {
  /// Returns the terms of `ORDER BY`; empty for no descriptors.
  ///
  /// Tables along the path to a key are outer joined: sorting loses no rows.
  func order(_ descriptors: [NSSortDescriptor]) throws(TranslationError) -> String {
    var terms: [String] = []
    for descriptor in descriptors { terms.append(try term(descriptor)) }
    return terms.joined(separator: ", ")
  }

  private func term(_ descriptor: NSSortDescriptor) throws(TranslationError) -> String {
    guard let key = descriptor.key else {
      throw TranslationError(
        "a sort descriptor without a key", "A store can sort only by key paths.")
    }
    let site = columnSite
    if let name = computed.alias(of: key) {
      let isText = computed.types[key] == .text
      return name + (try collation(descriptor, key, isText: isText))
        + (descriptor.ascending ? "" : "DESC")
    }
    if let orderColumn = root.entity.column(named: key)?.orderColumn, let start = root.start {
      // The order keys of the to-one's inverse.
      let alias = try root.alias(of: start, isRequired: false, in: key)
      return "\(alias).\(SQLSyntax.quoted(orderColumn))" + (descriptor.ascending ? "" : " DESC")
    }
    let path = PredicateKeyPath(key)
    var column: SQLFragment
    var isText = false
    switch try walk(path.components[...], in: root, at: site, text: key) {
    case .attribute(let found, let attribute):
      try requireValueInColumn(attribute, key)
      column = found
      isText = StoredType(attribute.attributeType) == .text
    case .object(let found, _) where ["self", "SELF", "objectID"].contains(key):
      column = found
    case .toMany(let path) where path.rest.first != nil:
      guard case .computed(let found, let type) = try aggregate(path, at: site) else {
        throw TranslationError(key, "A store can't sort by this value.")
      }
      column = found
      isText = type == .text
    case .toMany:
      throw TranslationError(key, "A to-many relationship can't be a sort key.")
    case .object(_, let entity):
      throw TranslationError(
        key, "Objects have no order: sort by an attribute of \(entity.name), such as \(key).name.")
    case .constant, .entity, .computed, .list:
      throw TranslationError(key, "A store can't sort by this value.")
    }
    if column.sql.first == " " { column.sql.removeFirst() }
    return column.sql + (try collation(descriptor, key, isText: isText))
      + (descriptor.ascending ? "" : "DESC")
  }

  /// Returns ` COLLATE … ` for a localized order, with the spaces of Core Data's logs; otherwise
  /// the separator before `DESC`.
  private func collation(
    _ descriptor: NSSortDescriptor, _ key: String, isText: Bool
  ) throws(TranslationError) -> String {
    guard let comparison = descriptor.comparison else {
      throw TranslationError(key, "The store can't sort by a block; it needs SQL.")
    }
    guard isText, let collation = StoreCollation(comparison) else {
      return descriptor.ascending ? "" : " "
    }
    return " COLLATE \(collation.rawValue) "
  }
}

/// A value that doesn't depend on the row, and its source in the predicate.
struct PredicateConstant {
  let value: PredicateValue

  /// `nil` for a constant that can't be replaced for other predicates of the shape.
  var origin: ConstantOrigin?

  var isNull: Bool { value.isNull }

  /// The elements of a list; `nil` if the value isn't one.
  var elements: [PredicateConstant]? {
    guard case .collection(let collection) = value else { return nil }
    return collection.elements.enumerated().map { position, element in
      PredicateConstant(
        value: element, origin: origin.map { ConstantOrigin(index: $0.index, element: position) })
    }
  }
}

/// The index of a constant of a predicate, and of an element in a constant list.
struct ConstantOrigin: Hashable, Sendable {
  let index: Int
  var element: Int?

  func value(in constants: [PredicateValue]) -> PredicateValue? {
    guard let element else { return constants[index] }
    guard case .collection(let collection) = constants[index],
      element < collection.elements.count
    else { return nil }
    return collection.elements[element]
  }
}
