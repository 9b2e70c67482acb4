import OpenCoreData
import Profiling
import ScenarioLanguage
import WorkbenchText

extension ShellEngine {
  /// The entities with their saved rows as a tree, or the properties of one of them.
  ///
  /// One COUNT an entity, beside the session: the try's counters do not see it.
  func entities(_ arguments: ShellArguments) throws -> ShellAnswer {
    let session = try openSession()
    if let word = arguments.words.first {
      let entity = try ModelNames(session.model).entity(word.text, at: word.place)
      return ShellEngine.properties(of: entity)
    }
    let own = try ScenarioData.counts(
      in: session.storeURL, model: session.model, ignoringVersions: session.ignoresVersions)
    let totals = EntityCount.totals(own, in: session.model)
    let rows = session.model.entityTree.map { depth, entity in
      (
        name: String(repeating: "  ", count: depth) + (entity.name ?? ""),
        count: NumberText.grouped(totals[entity.name ?? ""] ?? 0),
        note: entity.isAbstract ? "   abstract" : ""
      )
    }
    let name = rows.map(\.name.count).max() ?? 0
    let count = rows.map(\.count.count).max() ?? 0
    let table = ShellTable(
      ["entity", "rows", "abstract"],
      session.model.entityTree.map { _, entity in
        [
          .text(entity.name ?? ""), .number(totals[entity.name ?? ""] ?? 0),
          .text(entity.isAbstract ? "yes" : "no"),
        ]
      })
    return ShellAnswer(
      rows.map { row in
        "  \(NumberText.left(row.name, name))  \(NumberText.right(row.count, count))\(row.note)"
      }, table: table)
  }

  private static func properties(of entity: NSEntityDescription) -> ShellAnswer {
    let attributes = entity.attributesByName.values.sorted { $0.name < $1.name }
      .map { (property: $0 as NSPropertyDescription, kind: $0.attributeType.documentName) }
    let relationships = entity.relationshipsByName.values.sorted { $0.name < $1.name }
      .map { relationship in
        (
          property: relationship as NSPropertyDescription,
          kind: "\(relationship.isToMany ? "to many" : "to one") "
            + (relationship.destinationEntity?.name ?? "nothing")
        )
      }
    let all = attributes + relationships
    let width = all.map(\.property.name.count).max() ?? 0
    let lines = all.map { property, kind in
      var facts = kind
      if property.isOptional { facts += ", optional" }
      if property.isTransient { facts += ", transient" }
      return "  \(NumberText.left(property.name, width))   \(facts)"
    }
    let table = ShellTable(
      ["property", "kind", "optional", "transient"],
      all.map { property, kind in
        [
          .text(property.name), .text(kind), .text(property.isOptional ? "yes" : "no"),
          .text(property.isTransient ? "yes" : "no"),
        ]
      })
    return ShellAnswer(lines, table: table)
  }
}
