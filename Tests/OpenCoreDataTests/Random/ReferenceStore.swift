import OpenCoreData

/// What the object graph should be, in plain dictionaries: no faults, no cache, no SQL.
///
/// Objects are known by their serial, which is an attribute of each.
struct ReferenceStore: Equatable {
  struct Object: Equatable {
    let entity: String
    var attributes: [String: AttributeValue] = [:]
    /// The forward side of each link: the serials it leads to.
    var links: [String: Set<Int>] = [:]

    /// The entity that declares the relationships.
    var root: String { entity == "Person" || entity == "Robot" ? "Worker" : entity }
  }

  enum AttributeValue: Hashable {
    case integer(Int64)
    case text(String)
    case date(Double)
    case bytes([UInt8])

    var managed: Any {
      switch self {
      case .integer(let value): value
      case .text(let value): value
      case .date(let value): Date(timeIntervalSinceReferenceDate: value)
      case .bytes(let value): Data(value)
      }
    }

    init?(_ value: Any?) {
      switch value {
      case let value as Int64: self = .integer(value)
      case let value as String: self = .text(value)
      case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
      case let value as Data: self = .bytes([UInt8](value))
      default: return nil
      }
    }
  }

  var objects: [Int: Object] = [:]

  /// The serials that a relationship leads to, from either side.
  func related(_ serial: Int, _ link: WorkshopModel.Link, inverse: Bool) -> Set<Int> {
    if !inverse { return objects[serial]?.links[link.name] ?? [] }
    return Set(objects.filter { $0.value.links[link.name]?.contains(serial) == true }.keys)
  }

  /// Makes a relationship lead to exactly these, from either side.
  mutating func relate(
    _ serial: Int, _ link: WorkshopModel.Link, inverse: Bool, to targets: Set<Int>
  ) {
    let now = related(serial, link, inverse: inverse)
    for gone in now.subtracting(targets) {
      let (source, target) = inverse ? (gone, serial) : (serial, gone)
      objects[source]?.links[link.name]?.remove(target)
    }
    for new in targets.subtracting(now) {
      let (source, target) = inverse ? (new, serial) : (serial, new)
      if !link.isToMany { objects[source]?.links[link.name] = [] }
      if !link.isInverseToMany {
        for key in objects.keys { objects[key]?.links[link.name]?.remove(target) }
      }
      objects[source]?.links[link.name, default: []].insert(target)
    }
  }

  mutating func delete(_ serial: Int) {
    let doomed = WorkshopModel.Link.all.filter(\.cascades).flatMap { link in
      related(serial, link, inverse: true)
    }
    objects[serial] = nil
    for key in objects.keys {
      for link in WorkshopModel.Link.all { objects[key]?.links[link.name]?.remove(serial) }
    }
    for other in doomed where objects[other] != nil { delete(other) }
  }
}
