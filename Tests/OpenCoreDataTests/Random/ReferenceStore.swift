/// The expected contents of a store, in plain dictionaries by serial.
final class ReferenceStore {
  struct Record: Equatable {
    var attributes: [String: AttributeValue] = [:]
    /// The serial of each to-one relationship's destination.
    var toOne: [String: Int] = [:]
    var version = 0
  }

  /// A join row of a worker and a tag.
  struct JoinRow: Hashable {
    let worker: Int
    let tag: Int
  }

  private(set) var records: [Int: Record] = [:]
  private(set) var joinRows: Set<JoinRow> = []
  /// The entity of each object, including deleted ones.
  var entities: [Int: String] = [:]

  func root(_ serial: Int) -> String {
    WorkshopModel.root(of: entities[serial] ?? "")
  }

  /// The destinations of a to-many relationship.
  ///
  /// A join row can refer to a row that another context deleted before the join row was saved. It's
  /// ignored, as by the SQL join.
  func destinations(of owner: Int, _ side: WorkshopModel.Side) -> Set<Int> {
    let found: Set<Int>
    switch side.name {
    case "tags": found = Set(joinRows.lazy.filter { $0.worker == owner }.map(\.tag))
    case "workers": found = Set(joinRows.lazy.filter { $0.tag == owner }.map(\.worker))
    default:
      return Set(records.lazy.filter { $0.value.toOne[side.inverse] == owner }.map(\.key))
    }
    return found.filter { records[$0] != nil }
  }

  func put(_ record: Record, _ serial: Int) {
    records[serial] = record
  }

  func delete(_ serial: Int) {
    records[serial] = nil
    joinRows = joinRows.filter { $0.worker != serial && $0.tag != serial }
  }

  func add(_ joinRow: JoinRow) {
    joinRows.insert(joinRow)
  }

  func remove(_ joinRow: JoinRow) {
    joinRows.remove(joinRow)
  }
}
