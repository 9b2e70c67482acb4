/// The texts of a store's INSERTs, UPDATEs and DELETEs, written once for each shape.
///
/// Used inside `ConnectionPool.withWriter` alone, which lets one thread in at a time.
final class WriteStatements: @unchecked Sendable {  // used by whoever has the writer
  private struct UpdateShape: Hashable {
    let entity: Int
    let slots: [Int]
    let moved: [Int]
  }

  private let translator: SQLTranslator
  private var inserts: [Int: RowStatement] = [:]
  private var deletes: [Int: RowStatement] = [:]
  private var updates: [UpdateShape: RowStatement] = [:]

  init(translator: SQLTranslator) {
    self.translator = translator
  }

  func insert(_ entity: SQLEntity) -> RowStatement {
    if let known = inserts[entity.number] { return known }
    let statement = translator.insert(entity: entity)
    inserts[entity.number] = statement
    return statement
  }

  func delete(_ entity: SQLEntity) -> RowStatement {
    if let known = deletes[entity.number] { return known }
    let statement = translator.delete(entity: entity)
    deletes[entity.number] = statement
    return statement
  }

  /// - Parameters:
  ///   - slots: The slots to write, in ascending order.
  ///   - moved: The slots whose value changes: a to-one that does has another place in its inverse's
  ///     list, or none.
  func update(_ entity: SQLEntity, slots: [Int], moved: [Int]) -> RowStatement {
    let moved = moved.filter { entity.columns[$0].orderColumn != nil }
    let shape = UpdateShape(entity: entity.number, slots: slots, moved: moved)
    if let known = updates[shape] { return known }
    let statement = translator.update(entity: entity, slots: slots, orderedSlots: moved)
    updates[shape] = statement
    return statement
  }
}
