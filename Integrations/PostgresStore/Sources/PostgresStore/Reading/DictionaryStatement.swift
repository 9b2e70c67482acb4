import OpenCoreData
import PostgresDriver

import class ManagedModel.NSExpression
import class ManagedModel.NSExpressionDescription
import class ManagedModel.NSPropertyDescription

/// The SELECT of a fetch request for dictionaries.
struct DictionaryStatement {
  /// An entry of each dictionary, and where its value is in a row.
  private struct Column {
    let name: String
    let source: Source
    let resultType: NSAttributeType?

    enum Source {
      case value(Int, ValueKind, AttributeColumn?)
      case object(key: Int, entity: Int, EntityMapping)
    }
  }

  let text: SQLText
  private let columns: [Column]
  private let store: PostgresStore
  private let schema: StoreSchema

  /// Translates a request.
  ///
  /// - Throws: 134060 for a column, predicate, or sort descriptor that can't be translated.
  init(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ mapping: EntityMapping,
    of store: PostgresStore, _ strings: LenientStrings
  ) throws {
    do {
      self = try Self(request, mapping, store, strings)
    } catch let error as TranslationError {
      throw StoreError.make(NSCoreDataError, "\(error)", ["entity": mapping.name])
    }
  }

  private init(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ mapping: EntityMapping,
    _ store: PostgresStore, _ strings: LenientStrings
  ) throws {
    self.store = store
    schema = try store.open.schema
    let translator = try PredicateTranslator(mapping, store, strings: strings)
    let conditions = try FetchStatement.conditions(request, mapping, translator)
    translator.aggregatesRows = true
    var list: [SQLText] = []
    var columns: [Column] = []
    for property in request.propertiesToFetch ?? [] {
      let entry = try Self.entry(property)
      let column = try Self.column(entry, mapping, translator, &list)
      columns.append(column)
      if entry.isComputed, case .value(let index, let kind, _) = column.source {
        translator.computed[entry.name] = (list[index], kind)
      }
    }
    self.columns = columns
    let groups = try (request.propertiesToGroupBy ?? []).flatMap { property in
      let entry = try Self.entry(property)
      if entry.isComputed, let computed = translator.computed[entry.name] { return [computed.text] }
      var group: [SQLText] = []
      _ = try Self.column(entry, mapping, translator, &group)
      return group
    }
    let having = try request.havingPredicate.map { [try translator.condition($0)] } ?? []
    var order = try translator.order(request.sortDescriptors ?? [])
    if !order.isEmpty || request.fetchLimit > 0 || request.fetchOffset > 0 {
      // Rows with equal values have an order too, so that pages don't overlap.
      let key = SQLText(raw: "t0.\(SystemColumn.key)")
      let isOneRow = translator.hasAggregatedRows || request.havingPredicate != nil
      let last = request.returnsDistinctResults ? list : groups
      order += last.isEmpty && !isOneRow ? [key] : last.map { "\($0) ASC NULLS FIRST" }
    }
    let distinct = request.returnsDistinctResults ? "DISTINCT " : ""
    let from = "\(mapping.table.name) t0\(translator.root.joins)"
    var text: SQLText =
      "SELECT \(raw: distinct)\(.joined(list, by: ", ")) FROM \(raw: from)\(FetchStatement.clause("WHERE", conditions))"
    if !groups.isEmpty { text = "\(text) GROUP BY \(.joined(groups, by: ", "))" }
    text = text + FetchStatement.clause("HAVING", having)
    if !order.isEmpty { text = "\(text) ORDER BY \(.joined(order, by: ", "))" }
    self.text = text + FetchStatement.limits(request)
  }

  private static func entry(
    _ property: Any
  ) throws -> (name: String, expression: NSExpression, type: NSAttributeType?, isComputed: Bool) {
    switch property {
    case let description as NSExpressionDescription:
      guard let expression = description.expression else {
        throw TranslationError(description.name, "The description has no expression.")
      }
      let type = description.expressionResultType
      return (description.name, expression, type == .undefinedAttributeType ? nil : type, true)
    case let description as NSPropertyDescription:
      return (description.name, NSExpression(forKeyPath: description.name), nil, false)
    case let name as String: return (name, NSExpression(forKeyPath: name), nil, false)
    default: throw TranslationError("\(property)", "This isn't a property of the entity.")
    }
  }

  private static func column(
    _ entry: (name: String, expression: NSExpression, type: NSAttributeType?, isComputed: Bool),
    _ mapping: EntityMapping, _ translator: PredicateTranslator, _ list: inout [SQLText]
  ) throws -> Column {
    let found = try translator.operand(entry.expression, in: [translator.root])
    let source: Column.Source
    switch found {
    case .object(let key, let destination):
      let keyPath =
        entry.expression.expressionType == .keyPath ? entry.expression.keyPath + "." : ""
      guard
        case .entity(let number, _, _) = try translator.operand(
          NSExpression(forKeyPath: keyPath + "entity"), in: [translator.root])
      else { throw TranslationError(entry.name, "The key path must end at an object.") }
      list += [key, number]
      source = .object(key: list.count - 2, entity: list.count - 1, destination)
    case .toMany(let path) where path.rest.isEmpty:
      throw TranslationError(
        path.text, "A dictionary can't have a to-many relationship. Count it: \(path.text).@count.")
    default:
      let (text, kind) = try translator.value(found, entry.name, [translator.root])
      list.append(text)
      source = .value(list.count - 1, kind, Self.attribute(entry.expression, mapping, translator))
    }
    return Column(name: entry.name, source: source, resultType: entry.type)
  }

  /// Returns the column that a key path ends at, whose type determines the value's; nil for a
  /// computed value.
  private static func attribute(
    _ expression: NSExpression, _ mapping: EntityMapping, _ translator: PredicateTranslator
  ) -> AttributeColumn? {
    guard expression.expressionType == .keyPath else { return nil }
    var keys = expression.keyPath.split(separator: ".").map(String.init)[...]
    var mapping = mapping
    while let first = keys.first, let toOne = mapping.toOne(first),
      let destination = translator.schema.entities[toOne.destination]
    {
      mapping = destination
      keys.removeFirst()
    }
    return mapping.attribute(keys.joined(separator: "."))
  }

  // MARK: Results

  /// Returns the dictionaries of the rows; nil values are missing.
  func dictionaries(_ result: PostgresResult) throws -> [[String: Any]] {
    try (0..<result.rowCount).map { row in
      var dictionary: [String: Any] = [:]
      for column in columns { dictionary[column.name] = try value(column, result, row) }
      return dictionary
    }
  }

  private func value(_ column: Column, _ result: PostgresResult, _ row: Int) throws -> Any? {
    switch column.source {
    case .object(let key, let entity, _):
      guard let key = result.integer(row, key) else { return nil }
      guard let mapping = schema.mapping(number: result.integer(row, entity)) else {
        throw PostgresStore.unknownEntity(result.integer(row, entity))
      }
      return store.newObjectID(for: mapping.entity, referenceObject: key)
    case .value(let index, let kind, let attribute):
      let value = attribute?.value(result, row, index) ?? Self.value(kind, result, row, index)
      return value.flatMap { Self.converted($0, column.resultType) }
    }
  }

  private static func value(
    _ kind: ValueKind, _ result: PostgresResult, _ row: Int, _ index: Int
  ) -> Any? {
    switch kind {
    // A sum and a result of arithmetic is a `numeric`, which may be too large for an integer.
    case .integer:
      result.integer(row, index)
        ?? result.decimal(row, index).flatMap { ModelValue.integer($0) ?? ModelValue.real($0) }
    case .boolean: result.boolean(row, index)
    case .real: result.real(row, index)
    case .decimal: result.decimal(row, index)
    case .date: result.real(row, index).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .text: result.text(row, index)
    case .uuid: result.uuid(row, index)
    case .bytes(let coder):
      result.data(row, index).flatMap { data in
        guard let coder else { return data }
        return coder.value(data)
      }
    }
  }

  /// Returns a value as the requested type; numbers are `NSNumber`s.
  private static func converted(_ value: Any, _ type: NSAttributeType?) -> Any {
    let number = (value as? Date)?.timeIntervalSinceReferenceDate ?? ModelValue.real(value)
    let whole =
      ModelValue.integer(value) ?? number.flatMap { Int64(exactly: $0.rounded(.towardZero)) }
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return whole.map { NSNumber(value: $0) } ?? boxed(value)
    case .booleanAttributeType: return whole.map { NSNumber(value: $0 != 0) } ?? boxed(value)
    case .doubleAttributeType: return number.map { NSNumber(value: $0) } ?? boxed(value)
    case .floatAttributeType: return number.map { NSNumber(value: Float($0)) } ?? boxed(value)
    case .decimalAttributeType:
      return ModelValue.decimal(value).map { NSDecimalNumber(decimal: $0) } ?? boxed(value)
    case .dateAttributeType:
      return number.map { Date(timeIntervalSinceReferenceDate: $0) } ?? boxed(value)
    case .URIAttributeType: return (value as? String).flatMap { URL(string: $0) } ?? boxed(value)
    case .UUIDAttributeType:
      return (value as? String).flatMap { UUID(uuidString: $0) } ?? boxed(value)
    default: return boxed(value)
    }
  }

  private static func boxed(_ value: Any) -> Any {
    switch value {
    case let value as Bool: NSNumber(value: value)
    case let value as Int64: NSNumber(value: value)
    case let value as Float: NSNumber(value: value)
    case let value as Double: NSNumber(value: value)
    case let value as Decimal: NSDecimalNumber(decimal: value)
    default: value
    }
  }
}
