import OpenCoreData
import StoreTools

/// What a finding of `doctor` affects, to compare the findings before and after a migration.
struct FindingSubject: Hashable {
  private let rule: DoctorRuleName
  /// The name of the entity; `nil` if the file is affected.
  private let entity: String?
  /// The names of the properties; several for a uniqueness constraint.
  private let properties: [String]

  /// Returns whether findings of a migrated store affect more rows, files, or indexes of a rule and
  /// an entity or property than before.
  ///
  /// - Parameters:
  ///   - findings: The findings of the migrated store.
  ///   - former: The findings before the migration.
  ///   - mappings: The mappings of all steps, by which renamed entities and properties are found.
  static func hasNew(
    _ findings: [DoctorFinding], since former: [DoctorFinding], _ mappings: [InferredMapping]
  ) -> Bool {
    var before: [FindingSubject: Int] = [:]
    for finding in former {
      let subject = FindingSubject(finding, in: mappings.first?.source)
      let subjects = mappings.reduce(into: Set([subject])) { subjects, mapping in
        subjects = Set(subjects.flatMap { $0.later(in: mapping) })
      }
      for subject in subjects { before[subject, default: 0] += finding.count }
    }
    let after = findings.reduce(into: [FindingSubject: Int]()) { counts, finding in
      counts[FindingSubject(finding, in: mappings.last?.destination), default: 0] += finding.count
    }
    return after.contains { $0.value > before[$0.key] ?? 0 }
  }

  private init(_ rule: DoctorRuleName, _ entity: String?, _ properties: [String]) {
    (self.rule, self.entity, self.properties) = (rule, entity, properties)
  }

  private init(_ finding: DoctorFinding, in model: NSManagedObjectModel?) {
    let owner = model?.entities.first { entity in
      entity.superentity == nil && SQLNames.plain(entity.name ?? "") == finding.table
    }
    self.init(
      finding.rule, finding.entity ?? owner?.name,
      finding.property?.components(separatedBy: ", ") ?? [])
  }

  /// Returns what's affected after a step.
  ///
  /// That's several entities if properties move to subentities, or entities to another hierarchy,
  /// and none if the property is removed.
  private func later(in mapping: InferredMapping) -> [FindingSubject] {
    // The tables of the history aren't in the model.
    guard let name = entity, let former = mapping.source.entitiesByName[name],
      properties.allSatisfy({ former.propertiesByName[$0] != nil })
    else { return [self] }
    return mapping.entities.flatMap { mapped -> [FindingSubject] in
      guard mapped.source?.isKind(of: former) == true, let later = mapped.destination else {
        return []
      }
      let found = properties.compactMap { name in
        mapped.properties.first { $0.source?.name == name }?.destination
      }
      guard found.count == properties.count else { return [] }
      // The entity that declares the property, or whose table it is.
      let owners = [later, later.rootEntity] + found.compactMap(\.entity)
      return owners.map { FindingSubject(rule, $0.name, found.map(\.name)) }
    }
  }
}
