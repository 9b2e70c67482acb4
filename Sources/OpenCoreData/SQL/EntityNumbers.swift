import ManagedModel

/// The entity IDs of a model, by rule or from a file's `Z_PRIMARYKEY`.
struct EntityNumbers {
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var namesInFile: [ObjectIdentifier: String] = [:]

  /// - Parameter descriptions: All entities of the model, in numbering order.
  /// - Parameter ignoresMissing: Whether an entity that the file lacks gets an unused ID.
  init(
    _ descriptions: [NSEntityDescription], file: FileSchema?, ignoresMissing: Bool = false
  ) throws(SchemaMismatch) {
    guard let file else {
      for (index, description) in descriptions.enumerated() {
        numbers[ObjectIdentifier(description)] = index + 1
      }
      return
    }
    var open = file.entities
    var taken = Set(open.map(\.number))
    func take(_ description: NSEntityDescription, where matches: (String) -> Bool) -> Bool {
      guard let index = open.firstIndex(where: { matches($0.name) }) else { return false }
      let found = open.remove(at: index)
      numbers[ObjectIdentifier(description)] = found.number
      namesInFile[ObjectIdentifier(description)] = found.name
      return true
    }
    var waiting = descriptions.filter { entity in !take(entity) { $0 == entity.name } }
    waiting = waiting.filter { entity in
      guard let former = entity.explicitRenamingIdentifier else { return true }
      return !take(entity) { $0 == former }
    }
    for entity in waiting {
      let position = descriptions.firstIndex { $0 === entity }.map { $0 + 1 }
      guard let index = open.firstIndex(where: { $0.number == position }) else {
        if ignoresMissing {
          var number = 1
          while taken.contains(number) { number += 1 }
          taken.insert(number)
          numbers[ObjectIdentifier(entity)] = number
          continue
        }
        throw SchemaMismatch(
          entity: entity.name ?? "", property: nil, table: SQLNames.plain(entity.name ?? ""),
          column: nil, isUnnumbered: true)
      }
      let found = open.remove(at: index)
      numbers[ObjectIdentifier(entity)] = found.number
      namesInFile[ObjectIdentifier(entity)] = found.name
    }
  }

  func number(_ description: NSEntityDescription) -> Int {
    numbers[ObjectIdentifier(description)] ?? 0
  }

  /// Returns the entity's name in the file, which may be a former one.
  func nameInFile(_ description: NSEntityDescription) -> String? {
    namesInFile[ObjectIdentifier(description)]
  }
}

extension NSManagedObjectModel {
  /// Returns the entities in the order of their IDs: roots by name, each followed by its descendants.
  ///
  /// The first entity has ID 1. A configuration's entities include their ancestors, whose columns
  /// their rows have.
  /// - Parameter configuration: Nil for all; empty result for one that isn't in the model.
  func entitiesInNumberingOrder(of configuration: String? = nil) -> [NSEntityDescription] {
    func withDescendants(_ entity: NSEntityDescription) -> [NSEntityDescription] {
      [entity] + entity.numberedSubentities.flatMap(withDescendants)
    }
    let all = NSEntityDescription.inNumberingOrder(entities.filter { $0.superentity == nil })
      .flatMap(withDescendants)
    guard configuration != nil else { return all }
    var wanted: Set<ObjectIdentifier> = []
    for entity in entities(forConfigurationName: configuration) ?? [] {
      var next: NSEntityDescription? = entity
      while let entity = next {
        wanted.insert(ObjectIdentifier(entity))
        next = entity.superentity
      }
    }
    return all.filter { wanted.contains(ObjectIdentifier($0)) }
  }

  /// Returns the version hashes of a store of a configuration, by entity.
  func versionHashes(of configuration: String?) -> [String: Data] {
    guard configuration != nil else { return entityVersionHashesByName }
    let names = Set(entities(forConfigurationName: configuration)?.compactMap(\.name) ?? [])
    return entityVersionHashesByName.filter { names.contains($0.key) }
  }
}
