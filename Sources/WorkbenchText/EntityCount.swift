package import OpenCoreData

/// How many rows of an entity the data has.
package struct EntityCount: Sendable, Equatable {
  package var name: String
  package var count: Int

  package init(name: String, count: Int) {
    self.name = name
    self.count = count
  }

  /// Rows of every entity of the model, those of its sub-entities included: what a fetch would bring.
  ///
  /// - Parameter own: rows of each entity itself.
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
