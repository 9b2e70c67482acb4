import ManagedModel
import SQLiteDriver

/// The assignments of a batch update, in the order of the columns.
struct BatchAssignments {
  /// The names of the attributes.
  private(set) var names: [String] = []
  /// The assignments as SQL: `ZCOUNT = ?`.
  private(set) var texts: [String] = []
  /// The bound values, in order.
  private(set) var binds: [SQLiteValue] = []
  /// The contents of the tables `_Z_intarrayN` after those of the statement's condition.
  fileprivate(set) var intArrays: [ContiguousArray<Int64>] = []

  fileprivate mutating func append(
    _ value: SQLFragment, to column: String, _ name: String, for translator: SQLTranslator
  ) {
    names.append(name)
    texts.append("\(SQLSyntax.quoted(column)) = \(value.sql)")
    binds += value.binds.compactMap { $0.value(of: [], for: translator) }
  }
}

extension SQLiteStore {
  /// Returns the assignments of a batch update.
  ///
  /// - Parameter intArrayCount: The number of tables `_Z_intarrayN` in the statement's condition.
  func assignments(
    _ properties: [AnyHashable: Any], _ layout: EntityLayout, after intArrayCount: Int
  ) throws -> BatchAssignments {
    let entity = entity(layout)
    // An UPDATE has no alias for its table.
    let translation = PredicateTranslation(
      translator, entity: entity, alias: SQLSyntax.quoted(entity.table),
      firstIntArray: intArrayCount)
    translation.joinsToMany = false
    let named = properties.map { key, value in
      ((key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key)", value)
    }
    var found: [Int: SQLFragment] = [:]
    for (name, value) in try named.flatMap({ try leafValues($0, $1, layout) }) {
      let slot = try attributeSlot(name, layout)
      found[slot.index] = try assignment(of: value, to: slot, layout, translation)
    }
    var assignments = BatchAssignments()
    for (index, value) in found.sorted(by: { $0.key < $1.key }) {
      assignments.append(
        value, to: entity.columns[index].name, layout.slots[index].name, for: translator)
    }
    assignments.intArrays = translation.intArrays.compactMap {
      $0.values(of: [], for: translator)
    }
    return assignments
  }

  private func assignment(
    of value: Any, to slot: RowSlot, _ layout: EntityLayout, _ translation: PredicateTranslation
  ) throws -> SQLFragment {
    guard let expression = value as? NSExpression,
      expression.depth > StoreLimits.conditionDepth || !expression.isIndependentOfObject
    else {
      return "\(bind: try storedValue(value, slot, layout).sqliteValue)"
    }
    if expression.expressionType == .keyPath,
      case .slot(let index)? = layout.position(of: expression.keyPath),
      !layout.slots[index].kind.isToOne
    {
      return try copied(layout.slots[index], to: slot, layout)
    }
    do {
      return try translation.assignment(of: expression, to: slot)
    } catch {
      throw NSError.fetch("A batch update can't set '\(slot.name)': \(error.message)")
    }
  }

  /// Returns the value of another attribute of the row.
  private func copied(
    _ source: RowSlot, to slot: RowSlot, _ layout: EntityLayout
  ) throws -> SQLFragment {
    guard source.kind.canBeCopied(to: slot.kind) else {
      throw NSError.fetch(
        "A batch update can't set '\(slot.name)' to '\(source.name)': "
          + (source.kind == .external || slot.kind == .external
            ? "values in external storage can't be copied." : "their types differ."))
    }
    let column: SQLFragment = "\(raw: SQLSyntax.quoted(entity(layout).columns[source.index].name))"
    return source.kind.isWhole && slot.kind != .bool && slot.kind != .float
      || source.kind == slot.kind
      ? column : PredicateTranslation.stored(column, as: slot.kind)
  }
}

extension RowSlot.Kind {
  /// Whether columns of this kind contain only integers.
  fileprivate var isWhole: Bool {
    switch self {
    case .int16, .int32, .int64, .bool: true
    default: false
    }
  }

  /// Returns whether an UPDATE can copy a column of this kind to one of another kind, whose format
  /// its values then have.
  ///
  /// Values in external storage can't be copied: two rows or columns would refer to one file.
  fileprivate func canBeCopied(to other: RowSlot.Kind) -> Bool {
    let numbers: [RowSlot.Kind] = [.int16, .int32, .int64, .bool, .double, .float, .date, .decimal]
    let texts: [RowSlot.Kind] = [.string, .uri]
    if self == other { return self != .external }
    return [numbers, texts].contains { $0.contains(self) && $0.contains(other) }
  }
}
