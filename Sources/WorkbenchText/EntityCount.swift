package import ManagedModel

/// The number of rows of an entity.
package struct EntityCount: Sendable, Equatable, Codable {
  package var name: String
  package var count: Int

  package init(name: String, count: Int) {
    self.name = name
    self.count = count
  }

  /// Returns the number of rows of each entity including its subentities, as a fetch returns them.
  ///
  /// - Parameters:
  ///   - own: The rows of each entity without its subentities.
  ///   - model: The model.
  package static func totals(
    _ own: [EntityCount], in model: NSManagedObjectModel
  ) -> [String: Int] {
    let ownRows = Dictionary(own.map { ($0.name, $0.count) }, uniquingKeysWith: +)
    func total(_ entity: NSEntityDescription) -> Int {
      entity.subentities.reduce(ownRows[entity.name ?? ""] ?? 0) { $0 + total($1) }
    }
    return model.entitiesByName.mapValues(total)
  }
}
