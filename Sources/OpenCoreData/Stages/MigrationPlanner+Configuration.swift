package import ManagedModel

// Stores that were made with a configuration of their model, and contain only its entities.

extension MigrationPlanner {
  /// The reason why there's no configuration to migrate a store with.
  package enum ConfigurationProblem: Error, Sendable {
    /// Several configurations have the store's entities, but different ones in the destination.
    case ambiguous([String])
    /// The destination has no configuration with the store's entities, and not the store's, whose
    /// name is `nil` if the model of the store has none either.
    case missing(entities: [String], name: String?)
  }

  /// Returns the configuration to migrate a store with: that of its model which has the store's
  /// entities, or another one of the destination with the same entities.
  ///
  /// The other name is added to the models of the store, and the name to the versions on the way
  /// that only have another one for the same entities. None of them may be in use.
  /// - Parameters:
  ///   - metadata: The metadata of the store.
  ///   - former: The model of the store, which can be there several times.
  ///   - versions: The versions that can be on the way.
  ///   - destination: The version to migrate it to.
  /// - Returns: `nil` if the store has all entities of its model.
  /// - Throws: A `ConfigurationProblem` if the destination has no such configuration, or several
  ///   with different entities.
  package static func configuration(
    ofStoreWith metadata: [String: Any], from former: [ModelVersion],
    along versions: [ModelVersion], to destination: ModelVersion
  ) throws(ConfigurationProblem) -> String? {
    let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let (names, model) = (Set(hashes.keys), former.first?.model)
    guard let model, !names.isEmpty, names.isStrictSubset(of: model.entitiesByName.keys) else {
      return nil
    }
    let own = model.configurations(ofStoreWith: metadata)
    let shared = own.filter(destination.model.configurations.contains)
    let different = Set(
      shared.map { name in
        Set((destination.model.entities(forConfigurationName: name) ?? []).compactMap(\.name))
      })
    guard different.count < 2 else { throw ConfigurationProblem.ambiguous(shared) }
    guard let name = shared.first ?? destination.model.configuration(ofStoreWith: metadata) else {
      throw ConfigurationProblem.missing(entities: names.sorted(), name: own.first)
    }
    let others = versions.filter {
      $0.model.entities(forConfigurationName: name) == nil
        && $0.model.configuration(ofStoreWith: metadata) != nil
    }
    for version in (shared.isEmpty ? former : []) + others {
      version.model.setEntities(
        names.sorted().compactMap { version.model.entitiesByName[$0] },
        forConfigurationName: name)
    }
    return name
  }

  /// Returns the name of the first version between steps that doesn't have the store's
  /// configuration; `nil` if all have it.
  package func versionWithoutConfiguration(
    between steps: [ProgressiveMigration.Step]
  ) -> String? {
    guard let configuration else { return nil }
    return steps.dropLast().first {
      $0.destination.entities(forConfigurationName: configuration) == nil
    }?.to
  }
}

extension MigrationPlanner.ConfigurationProblem {
  /// Returns the error of the public API.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - version: The name of the version to migrate it to.
  func error(_ store: URL, _ version: String) -> NSError {
    let path = store.relativePath
    let message =
      switch self {
      case .ambiguous(let names):
        "The store \(path) can be of the configurations \(names.joined(separator: " and ")), which have "
          + "different entities in \(version). Remove all but one of them from a copy of the model."
      case .missing(let entities, let name):
        "The store \(path) contains only the entities of a configuration "
          + "(\(entities.joined(separator: ", "))), and \(version) has no configuration "
          + "\(name ?? "with these entities"). Add the configuration to \(version)."
      }
    return NSError.coreData(
      NSPersistentStoreOperationError, message, [NSFilePathErrorKey: store.path])
  }
}
