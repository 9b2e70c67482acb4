import OpenCoreData

extension ShellEngine {
  /// The entities with their saved rows as a tree, or the properties of one of them.
  ///
  /// One COUNT an entity, beside the session: the try's counters do not see it.
  func entities(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    if let word = arguments.words.first {
      let entity = try ModelNames(session.model).entity(word.text, at: word.place)
      return ShellAnswer(ShellEngine.properties(of: entity))
    }
    let own = try ScenarioData.counts(in: session.storeURL, model: session.model)
    let totals = DataPlan.totals(own, in: session.model)
    let rows = session.model.entityTree.map { depth, entity in
      (
        name: String(repeating: "  ", count: depth) + (entity.name ?? ""),
        count: NumberText.grouped(totals[entity.name ?? ""] ?? 0),
        note: entity.isAbstract ? "   abstract" : ""
      )
    }
    let name = rows.map(\.name.count).max() ?? 0
    let count = rows.map(\.count.count).max() ?? 0
    return ShellAnswer(
      rows.map { row in
        "  \(NumberText.left(row.name, name))  \(NumberText.right(row.count, count))\(row.note)"
      })
  }

  private static func properties(of entity: NSEntityDescription) -> [String] {
    let attributes = entity.attributesByName.values.sorted { $0.name < $1.name }
    let relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }
    let width = (attributes.map(\.name) + relationships.map(\.name)).map(\.count).max() ?? 0
    func line(_ property: NSPropertyDescription, _ kind: String) -> String {
      var facts = kind
      if property.isOptional { facts += ", optional" }
      if property.isTransient { facts += ", transient" }
      return "  \(NumberText.left(property.name, width))   \(facts)"
    }
    return attributes.map { line($0, $0.attributeType.documentName) }
      + relationships.map {
        line($0, "\($0.isToMany ? "to many" : "to one") \($0.destinationEntity?.name ?? "nothing")")
      }
  }
}

extension NSManagedObjectModel {
  /// The entities from the roots down, alphabetically, each with its depth.
  var entityTree: [(depth: Int, entity: NSEntityDescription)] {
    func branch(
      _ entities: [NSEntityDescription], _ depth: Int
    ) -> [(depth: Int, entity: NSEntityDescription)] {
      entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        .flatMap { [(depth, $0)] + branch($0.subentities, depth + 1) }
    }
    return branch(entities.filter { $0.superentity == nil }, 0)
  }
}
