package import ManagedModel
package import SQLiteDriver

/// The SELECT that a fetch with a predicate would run, and what it would bind; nothing is run.
package struct FetchStatement: Sendable {
  /// Why there's no SELECT.
  package struct Refusal: Error, Sendable {
    /// The part of the predicate that has no SQL, as it would be written.
    package let piece: String
    /// A sentence.
    package let reason: String
    /// The name that was probably meant.
    package let suggestion: String?
  }

  /// The text, with `?` for values.
  package let sql: String
  /// The values of the `?`s, in order.
  package let binds: [SQLiteValue]
  /// What the tables `_Z_intarray0`, `_Z_intarray1` … hold.
  package let intArrays: [[Int64]]

  /// Translates a predicate for all objects of an entity.
  ///
  /// Costs no statement. Objects and IDs in the predicate have no key here.
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
