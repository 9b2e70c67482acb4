/// What a store should hold, in plain dictionaries: no rows, no SQL, no cache.
///
/// Objects are known by their serials.
final class ReferenceStore {
  struct Record: Equatable {
    var attributes: [String: AttributeValue] = [:]
    /// The serial that each to-one leads to.
    var toOne: [String: Int] = [:]
    var version = 0
  }

  /// A worker and a tag that it has.
  struct Pair: Hashable {
    let worker: Int
    let tag: Int
  }

  private(set) var records: [Int: Record] = [:]
  private(set) var pairs: Set<Pair> = []
  /// The entity of each object that there ever was.
  var entities: [Int: String] = [:]

  func root(_ serial: Int) -> String {
    WorkshopModel.root(of: entities[serial] ?? "")
  }

  /// Where a to-many leads.
  ///
  /// A pair is kept whose other end was deleted before the pair was saved, by a context that had lost
  /// sight of it. It is not read: the framework joins the pairs with the rows they lead to.
  func destinations(of owner: Int, _ side: WorkshopModel.Side) -> Set<Int> {
    let found: Set<Int>
    switch side.name {
    case "tags": found = Set(pairs.lazy.filter { $0.worker == owner }.map(\.tag))
    case "workers": found = Set(pairs.lazy.filter { $0.tag == owner }.map(\.worker))
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
    pairs = pairs.filter { $0.worker != serial && $0.tag != serial }
  }

  func add(_ pair: Pair) {
    pairs.insert(pair)
  }

  func remove(_ pair: Pair) {
    pairs.remove(pair)
  }
}
