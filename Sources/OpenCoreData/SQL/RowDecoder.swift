import ManagedModel
import SQLiteDriver

/// Reads a statement's current row into a `Row`, directly from SQLite's column memory.
///
/// Used for every statement of one projection; it creates a plan and a builder for each concrete
/// entity in the rows. One context uses it, on its queue.
final class RowDecoder {
  private let projection: Projection
  private let layouts: StoreLayouts
  /// The entity ID of every row, if the rows don't contain it.
  private let onlyNumber: Int?
  private var plans: [Int: DecodingPlan] = [:]
  /// The previous row's plan, retained by `plans`: read without reference counting, once per row.
  @exclusivity(unchecked) private var last: Unmanaged<DecodingPlan>?

  /// Creates a decoder; `projection` maps columns to slots.
  init(projection: Projection, layouts: StoreLayouts) {
    self.projection = projection
    self.layouts = layouts
    onlyNumber = projection.hasEntityNumber ? nil : projection.entity.number
  }

  /// Returns the current row's identity.
  func identity(_ statement: Statement) throws -> FetchedIdentity {
    let plan = try plan(for: statement)
    let primaryKey = try primaryKey(statement)
    return plan._withUnsafeGuaranteedRef {
      FetchedIdentity(layout: $0.layout, primaryKey: primaryKey)
    }
  }

  /// Returns the current row, which the caller owns; its layout determines its entity.
  func row(_ statement: Statement) throws -> FetchedRow {
    let plan = try plan(for: statement)
    let primaryKey = try primaryKey(statement)
    return plan._withUnsafeGuaranteedRef {
      FetchedRow(layout: $0.layout, primaryKey: primaryKey, row: $0.decode(statement))
    }
  }

  /// Returns the key, which is positive for rows; others are those of temporary objects.
  private func primaryKey(_ statement: Statement) throws -> Int64 {
    let key = statement.int64(Projection.keyColumn)
    guard key > 0 else { throw NSError.damagedKey(key, entity: projection.entity.name) }
    return key
  }

  private func plan(for statement: Statement) throws -> Unmanaged<DecodingPlan> {
    let number = onlyNumber ?? Int(statement.int64(Projection.entityColumn))
    if let last, last._withUnsafeGuaranteedRef({ $0.entityNumber == number }) { return last }
    let plan = Unmanaged.passUnretained(try plans[number] ?? make(number, statement))
    last = plan
    return plan
  }

  private func make(_ number: Int, _ statement: Statement) throws -> DecodingPlan {
    guard let layout = layouts.layout(entityNumber: number) else {
      throw NSError.damagedRow(
        entityNumber: number, primaryKey: statement.int64(Projection.keyColumn),
        readAs: projection.entity.name)
    }
    let plan = DecodingPlan(layout: layout, entityNumber: number, projection: projection)
    plans[number] = plan
    return plan
  }
}

/// The mapping of a projection's columns to the slots of one entity.
private final class DecodingPlan {
  unowned(unsafe) let layout: EntityLayout
  let entityNumber: Int
  private let steps: [Step]
  @exclusivity(unchecked) private var builder: RowBuilder

  /// A slot and the columns it's read from.
  private struct Step {
    let slot: RowSlot
    let column: Int32
    /// The column of the destination's entity ID; negative if there's none.
    let entityColumn: Int32
  }

  init(layout: EntityLayout, entityNumber: Int, projection: Projection) {
    self.layout = layout
    self.entityNumber = entityNumber
    let columns = projection.slotColumns(forEntityNumber: entityNumber)
    let entityColumns = projection.entityColumns(forEntityNumber: entityNumber)
    steps = zip(layout.slots, zip(columns, entityColumns)).compactMap { slot, columns in
      columns.0 < 0 ? nil : Step(slot: slot, column: columns.0, entityColumn: columns.1)
    }
    self.builder = RowBuilder(layout: layout)
  }

  /// Checks for NULL only if the value is SQLite's conversion of NULL, because each check is a
  /// call.
  func decode(_ statement: Statement) -> Row {
    builder.reset()
    for step in steps {
      let column = step.column
      switch step.slot.kind {
      case .int16, .int32, .int64, .bool, .toOne:
        let value = statement.int64(column)
        if value != 0 || !statement.isNull(column) { builder.set(value, at: step.slot) }
      case .toOnePolymorphic:
        let value = statement.int64(column)
        guard value != 0 || !statement.isNull(column) else { continue }
        builder.set(value, at: step.slot)
        builder.set(
          entityNumber: step.entityColumn < 0 ? 0 : statement.int64(step.entityColumn),
          at: step.slot)
      case .double, .float, .date:
        let value = statement.double(column)
        if value != 0 || !statement.isNull(column) { builder.set(value, at: step.slot) }
      case .string, .uri, .decimal:
        let text = UnsafeRawBufferPointer(statement.text(column))
        if text.baseAddress != nil { builder.set(bytes: text, at: step.slot) }
      case .data, .uuid, .transformable, .external:
        let bytes = statement.blob(column)
        if bytes.baseAddress != nil || !statement.isNull(column) {
          builder.set(bytes: bytes, at: step.slot)
        }
      }
    }
    return builder.finish(version: statement.int64(Projection.versionColumn))
  }
}
