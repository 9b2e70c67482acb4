/// The texts of a store's INSERTs, UPDATEs and DELETEs, written once for each shape.
///
/// Used inside `ConnectionPool.withWriter` alone, which lets one thread in at a time.
final class WriteStatements: @unchecked Sendable {  // used by whoever has the writer
  private struct UpdateShape: Hashable {
    let entity: Int
    let slots: [Int]
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

  /// `slots` in ascending order.
  func update(_ entity: SQLEntity, slots: [Int]) -> RowStatement {
    let shape = UpdateShape(entity: entity.number, slots: slots)
    if let known = updates[shape] { return known }
    let statement = translator.update(entity: entity, slots: slots)
    updates[shape] = statement
    return statement
  }
}
