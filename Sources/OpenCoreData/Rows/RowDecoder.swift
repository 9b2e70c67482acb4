import ManagedModel
import SQLiteDriver

/// Reads a statement's current row into a `Row`, straight from SQLite's column memory.
///
/// Serves every statement of one projection; it keeps a plan and a builder for each concrete entity
/// that turns up. One context uses it, on its queue.
final class RowDecoder {
  private let projection: Projection
  private let layouts: StoreLayouts
  private var plans: [Int: DecodingPlan] = [:]
  @exclusivity(unchecked) private var last: DecodingPlan?

  /// `projection` says which column holds which slot.
  init(projection: Projection, layouts: StoreLayouts) {
    self.projection = projection
    self.layouts = layouts
  }

  /// The current row's identity.
  func identity(_ statement: Statement) throws -> FetchedIdentity {
    let plan = try plan(for: statement)
    return FetchedIdentity(layout: plan.layout, primaryKey: try primaryKey(statement))
  }

  /// The current row, which the caller owns; its layout says of which entity it is.
  func row(_ statement: Statement) throws -> FetchedRow {
    let plan = try plan(for: statement)
    let primaryKey = try primaryKey(statement)
    return FetchedRow(
      layout: plan.layout, primaryKey: primaryKey,
      row: plan.decode(statement))
  }

  /// Keys from 1 up name rows; the others are temporary objects'.
  private func primaryKey(_ statement: Statement) throws -> Int64 {
    let key = statement.int64(Projection.keyColumn)
    guard key > 0 else { throw NSError.damagedKey(key, entity: projection.entity.name) }
    return key
  }

  private func plan(for statement: Statement) throws -> DecodingPlan {
    let number =
      projection.hasEntityNumber
      ? Int(statement.int64(Projection.entityColumn)) : projection.entity.number
    if let last, last.entityNumber == number { return last }
    let plan = try plans[number] ?? make(number, statement)
    last = plan
    return plan
  }

  private func make(_ number: Int, _ statement: Statement) throws -> DecodingPlan {
    guard let layout = layouts.layout(entityNumber: number) else {
      throw NSError.damagedRow(
        entityNumber: number, primaryKey: statement.int64(Projection.keyColumn))
    }
    let plan = DecodingPlan(layout: layout, entityNumber: number, projection: projection)
    plans[number] = plan
    return plan
  }
}

/// An entity and a key, as an identifier fetch gives them.
struct FetchedIdentity: @unchecked Sendable {  // layouts are immutable
  /// Not counted: the store holds its layouts.
  unowned(unsafe) let layout: EntityLayout
  let primaryKey: Int64
}

/// A row as it came from the database.
///
/// Whoever holds it owns one count of `row`.
struct FetchedRow {
  /// Not counted: the store holds its layouts.
  unowned(unsafe) let layout: EntityLayout
  let primaryKey: Int64
  let row: Row
}

/// How the columns of one projection become the slots of one entity.
private final class DecodingPlan {
  let layout: EntityLayout
  let entityNumber: Int
  private let columns: [Int32]
  private let entityColumns: [Int32]
  @exclusivity(unchecked) private var builder: RowBuilder

  init(layout: EntityLayout, entityNumber: Int, projection: Projection) {
    self.layout = layout
    self.entityNumber = entityNumber
    self.columns = projection.slotColumns(forEntityNumber: entityNumber)
    self.entityColumns = projection.entityColumns(forEntityNumber: entityNumber)
    self.builder = RowBuilder(layout: layout)
  }

  func decode(_ statement: Statement) -> Row {
    builder.reset()
    for slot in layout.slots {
      let column = columns[slot.index]
      guard column >= 0, !statement.isNull(column) else { continue }
      switch slot.kind {
      case .int16, .int32, .int64, .bool, .toOne:
        builder.set(statement.int64(column), at: slot)
      case .toOnePolymorphic:
        builder.set(statement.int64(column), at: slot)
        let entityColumn = entityColumns[slot.index]
        builder.set(entityNumber: entityColumn < 0 ? 0 : statement.int64(entityColumn), at: slot)
      case .double, .float, .date:
        builder.set(statement.double(column), at: slot)
      case .string, .uri, .decimal:
        builder.set(bytes: UnsafeRawBufferPointer(statement.text(column)), at: slot)
      case .data, .uuid, .transformable:
        builder.set(bytes: statement.blob(column), at: slot)
      }
    }
    return builder.finish(version: statement.int64(Projection.versionColumn))
  }
}
