/// A statement that writes one row, and what its `?`s stand for.
struct RowStatement: Hashable, Sendable {
  enum Parameter: Hashable, Sendable {
    case primaryKey
    case entityNumber
    /// The version the row gets.
    case version
    /// The version the row must still have; no row is touched otherwise.
    case lockedVersion
    case slot(Int)
    /// The concrete entity number of the object a to-one slot refers to.
    case entity(ofSlot: Int)
    /// The place of this object in the ordered inverse of a to-one slot.
    case order(ofSlot: Int)
  }

  let sql: String

  /// One for each `?`, in order.
  let parameters: [Parameter]
}
