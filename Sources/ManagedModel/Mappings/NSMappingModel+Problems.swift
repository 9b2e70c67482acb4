extension NSMappingModel {
  /// Returns the names in the mapping model that two models don't have, and the hashes that differ.
  ///
  /// A version hash of Core Data's is compared only with an entity whose own is known. Cost: linear in
  /// the size of the mapping model.
  package func problems(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [ModelError] {
    var problems: [ModelError] = []
    for mapping in entityMappings ?? [] {
      let title = mapping.name ?? ""
      check(mapping.sourceEntityName, mapping.sourceEntityVersionHash, "source", source)
      guard
        let entity = check(
          mapping.destinationEntityName, mapping.destinationEntityVersionHash, "destination",
          destination)
      else { continue }
      for (property, isAttribute) in mapping.properties {
        let name = property.name ?? ""
        let known =
          isAttribute
          ? Array(entity.attributesByName.keys) : Array(entity.relationshipsByName.keys)
        guard !known.contains(name) else { continue }
        problems.append(
          ModelError(
            "The mapping \(title) sets \(name), which \(entity.name ?? "") doesn't have.",
            nextStep: NearestName.of(name, among: known.sorted()).map { "Did you mean \($0)?" }
              ?? "Remove it from the mapping model.", entity: entity.name, property: name))
      }

      @discardableResult
      func check(
        _ name: String?, _ hash: Data?, _ role: String, _ model: NSManagedObjectModel
      ) -> NSEntityDescription? {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
          let near = NearestName.of(name, among: model.entitiesByName.keys.sorted())
          problems.append(
            ModelError(
              "The \(role) model has no entity \(name), which the mapping \(title) names.",
              nextStep: near.map { "Did you mean \($0)?" }
                ?? "Use the mapping model with the models that it was made for.", entity: name))
          return nil
        }
        if let hash, entity.differs(from: hash) {
          problems.append(
            ModelError(
              "The mapping \(title) was made for another version of the entity \(name) of the \(role) model.",
              nextStep: "Make the mapping model again for these versions.", entity: name))
        }
        return entity
      }
    }
    return problems
  }

  /// Returns whether each mapping has the version hash of its source entity in a model.
  func hasSourceHashes(of model: NSManagedObjectModel) -> Bool {
    hasHashes(of: model, \.sourceEntityName, \.sourceEntityVersionHash)
  }

  /// Returns whether each mapping has the version hash of its destination entity in a model.
  func hasDestinationHashes(of model: NSManagedObjectModel) -> Bool {
    hasHashes(of: model, \.destinationEntityName, \.destinationEntityVersionHash)
  }

  private func hasHashes(
    of model: NSManagedObjectModel, _ name: KeyPath<NSEntityMapping, String?>,
    _ hash: KeyPath<NSEntityMapping, Data?>
  ) -> Bool {
    let mappings = entityMappings ?? []
    return !mappings.isEmpty
      && mappings.allSatisfy { mapping in
        guard let name = mapping[keyPath: name] else { return true }
        let hash = mapping[keyPath: hash]
        return hash != nil && model.entitiesByName[name]?.versionHash == hash
      }
  }
}

extension NSEntityMapping {
  /// The mappings of attributes, then those of relationships.
  fileprivate var properties: [(mapping: NSPropertyMapping, isAttribute: Bool)] {
    (attributeMappings ?? []).map { ($0, true) } + (relationshipMappings ?? []).map { ($0, false) }
  }
}

extension NSEntityDescription {
  /// Returns whether a version hash is known not to be the entity's.
  ///
  /// False for one of Core Data's if the entity's own isn't known.
  fileprivate func differs(from hash: Data) -> Bool {
    guard hash != digest else { return false }
    return currentRecordedHash.map { $0 != hash } ?? false
  }
}
