extension WorkshopModel {
  /// One of the two relationships of a link.
  struct Side: Sendable {
    let name: String
    /// The root entity of the owner.
    let owner: String
    /// The root entity of its destination.
    let destination: String
    let isToMany: Bool
    let inverse: String
    /// Whether deleting the owner deletes the destinations.
    let cascades: Bool
  }

  /// All relationships by their names, which are unique.
  static let sides: [String: Side] = {
    var result: [String: Side] = [:]
    for link in Link.all {
      result[link.name] = Side(
        name: link.name, owner: link.source, destination: link.destination,
        isToMany: link.isToMany, inverse: link.inverse, cascades: false)
      result[link.inverse] = Side(
        name: link.inverse, owner: link.destination, destination: link.source,
        isToMany: link.isInverseToMany, inverse: link.name, cascades: link.cascades)
    }
    return result
  }()

  /// The relationships of the objects of a root entity, in the order of their names.
  static let sidesOfRoots: [String: [Side]] = Dictionary(
    grouping: sides.values.sorted { $0.name < $1.name }, by: \.owner)

  /// The root entity of an entity.
  static func root(of entity: String) -> String {
    entity == "Person" || entity == "Robot" ? "Worker" : entity
  }
}
