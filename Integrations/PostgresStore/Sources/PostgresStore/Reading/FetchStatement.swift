import OpenCoreData
import PostgresDriver

import class ManagedModel.NSSortDescriptor

/// The SELECT of a fetch request for objects, their IDs, or their number.
struct FetchStatement {
  /// What the statement selects.
  enum Extent {
    /// All columns, for rows.
    case rows
    /// The key and the entity's number.
    case keys
    case count
  }

  private let mapping: EntityMapping
  private let extent: Extent
  private let store: PostgresStore

  init(_ mapping: EntityMapping, _ extent: Extent, of store: PostgresStore) {
    (self.mapping, self.extent, self.store) = (mapping, extent, store)
  }

  /// Returns the statement.
  ///
  /// - Throws: 134060 for a predicate or a sort descriptor that can't be translated.
  func text(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ strings: LenientStrings
  ) throws -> SQLText {
    do {
      let translator = try PredicateTranslator(mapping, store, strings: strings)
      let conditions = try Self.conditions(request, mapping, translator)
      let order =
        extent == .count ? [] : try translator.order(request.sortDescriptors ?? [])
      var ordered = order
      // Rows with equal values have an order too, so that pages don't overlap.
      if extent != .count, !order.isEmpty || request.fetchLimit > 0 || request.fetchOffset > 0 {
        ordered.append("t0.\(raw: SystemColumn.key)")
      }
      let from =
        "\(mapping.table.name) t0\(translator.root.joins)"
      var text: SQLText =
        "SELECT \(raw: list) FROM \(raw: from)\(Self.clause("WHERE", conditions))"
      if !ordered.isEmpty { text = "\(text) ORDER BY \(.joined(ordered, by: ", "))" }
      text = text + Self.limits(request)
      guard extent == .count else { return text }
      return "SELECT count(*) FROM (\(text)) counted"
    } catch let error as TranslationError {
      throw StoreError.make(NSCoreDataError, "\(error)", ["entity": mapping.name])
    }
  }

  private var list: String {
    switch extent {
    case .rows: mapping.selection.list("t0")
    case .keys: "t0.\(SystemColumn.key), t0.\(SystemColumn.entity)"
    case .count: "1"
    }
  }

  /// Returns the conditions of a request: its entities, and its predicate.
  static func conditions(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ mapping: EntityMapping,
    _ translator: PredicateTranslator
  ) throws -> [SQLText] {
    var conditions: [SQLText] = []
    let column = "t0.\(SystemColumn.entity)"
    if !request.includesSubentities, mapping.family.count > 1 || !mapping.isWholeTable {
      conditions.append("\(raw: column) = \(bind: .integer(mapping.number))")
    } else if !mapping.isWholeTable {
      conditions.append("\(raw: column) = ANY(\(bind: .integers(mapping.numbers)))")
    }
    if let predicate = request.predicate {
      conditions.append(try translator.condition(predicate))
    }
    return conditions
  }

  /// Returns a clause with a conjunction; nothing if there is no condition.
  static func clause(_ word: String, _ conditions: [SQLText]) -> SQLText {
    conditions.isEmpty ? "" : " \(raw: word) \(.all(conditions))"
  }

  /// Returns the limit and the offset of a request.
  static func limits(_ request: NSFetchRequest<any NSFetchRequestResult>) -> SQLText {
    var text: SQLText = ""
    if request.fetchLimit > 0 { text = " LIMIT \(bind: .integer(Int64(request.fetchLimit)))" }
    if request.fetchOffset > 0 {
      text = "\(text) OFFSET \(bind: .integer(Int64(request.fetchOffset)))"
    }
    return text
  }
}

extension PredicateTranslator {
  /// Returns the terms of ORDER BY; nil comes before all values, as in Core Data.
  func order(_ descriptors: [NSSortDescriptor]) throws -> [SQLText] {
    try descriptors.map { descriptor in
      guard let key = descriptor.key, let comparison = descriptor.comparison else {
        throw TranslationError(
          "a sort descriptor", "SQL can sort by key paths only, not by a block.")
      }
      let (text, isText) = try term(key)
      guard comparison == .binary || !isText else {
        throw TranslationError(
          key,
          "The order '\(comparison.rawValue)' follows Foundation's rules, which SQL can't express. Sort with "
            + "'compare:', or sort the fetched objects.")
      }
      return descriptor.ascending
        ? "\(text) ASC NULLS FIRST" : "\(text) DESC NULLS LAST"
    }
  }

  private func term(_ key: String) throws -> (SQLText, isText: Bool) {
    if let found = computed[key] { return (found.text, found.kind.isText) }
    let keys = key.split(separator: ".").map(String.init)
    switch try walk(keys[...], in: root, text: key) {
    case .value(let text, let kind): return (text, kind.isText)
    case .object(let text, _) where ["self", "SELF", "objectID"].contains(key):
      return (text, false)
    case .toMany(let path) where path.rest.first?.hasPrefix("@") == true:
      let (text, kind) = try value(try aggregate(path, in: [root]), key, [root])
      return (text, kind.isText)
    case .toMany: throw TranslationError(key, "A to-many relationship can't be a sort key.")
    case .object(_, let mapping):
      throw TranslationError(
        key, "Objects have no order: sort by an attribute of \(mapping.name), such as \(key).name.")
    default: throw TranslationError(key, "The store can't sort by this value.")
    }
  }
}
