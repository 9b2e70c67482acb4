package import ManagedModel
package import SQLiteDriver

/// The SELECT and the bound values of a fetch with a predicate, which isn't run.
package struct FetchStatement: Sendable {
  /// The reason why there's no SELECT.
  package struct Refusal: Error, Sendable {
    /// The part of the predicate that can't be translated to SQL, in predicate format.
    package let piece: String
    /// The message.
    package let reason: String
    /// The suggested name if one was misspelled.
    package let suggestion: String?
  }

  /// The SQL text, with `?` for values.
  package let sql: String
  /// The bound values, in order.
  package let binds: [SQLiteValue]
  /// The contents of the tables `_Z_intarray0`, `_Z_intarray1` ….
  package let intArrays: [[Int64]]

  /// Translates a predicate for all objects of an entity.
  ///
  /// Runs no statements. Objects and object IDs in the predicate have no primary key here.
  package init(
    predicate: NSPredicate, entity: NSEntityDescription, in model: SQLModel
  ) throws(Refusal) {
    let query: SelectQuery
    do {
      query = try SQLTranslator(model: model).fetch(
        entity: model.entity(for: entity), predicate: predicate)
    } catch {
      throw Refusal(piece: error.piece, reason: error.reason, suggestion: error.suggestion)
    }
    sql = query.sql
    binds = query.binds
    intArrays = query.intArrays.map { Array($0) }
  }
}
