import Foundation
import OpenCoreData
import WorkbenchText

// Stores that were made with a configuration of their model, and contain only its entities.

extension MigrationRoute {
  /// Returns the position of the version that a store has, or that has the store's entities as a
  /// configuration; `nil` if there's none.
  static func position(
    ofStoreWith metadata: [String: Any], among versions: [ModelVersion]
  ) -> Int? {
    let planner = MigrationPlanner(versions: versions, mappingModels: [])
    return planner.position(ofStoreWith: metadata)
      ?? versions.lastIndex { version in
        version.model.configurations(ofStoreWith: metadata).contains { name in
          version.model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata)
        }
      }
  }

  /// Returns the configuration to migrate a store with: that of its model which has the store's
  /// entities, or another one of the destination with the same entities.
  ///
  /// The other name is added to the models of the store.
  /// - Parameters:
  ///   - path: The store.
  ///   - metadata: Its metadata.
  ///   - former: The model of the store, which can be there several times.
  ///   - destination: The version to migrate it to.
  /// - Returns: `nil` if the store has all entities of its model.
  /// - Throws: `InvalidInputError` if the destination has no such configuration, or several with
  ///   different entities.
  static func configuration(
    ofStoreAt path: String, with metadata: [String: Any], from former: [ModelVersion],
    to destination: ModelVersion
  ) throws(InvalidInputError) -> String? {
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
    guard different.count < 2 else {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) can be of the configurations \(shared.joined(separator: " and ")), "
          + "which have different entities in \(destination.name)",
        nextStep: "remove all but one of them from a copy of the model")
    }
    if let name = shared.first { return name }
    guard let name = destination.model.configurations(ofStoreWith: metadata).first else {
      let entities = names.sorted().joined(separator: ", ")
      throw InvalidInputError(
        kind: .unusable,
        message: "\(path) contains only the entities of a configuration (\(entities)), and "
          + "\(destination.name) has no configuration \(own.first ?? "with these entities")",
        nextStep: "add the configuration to \(destination.name)")
    }
    for version in former {
      version.model.setEntities(
        names.sorted().compactMap { version.model.entitiesByName[$0] },
        forConfigurationName: name)
    }
    return name
  }

  /// Checks that the versions between the steps have the configuration of the store.
  func checkVersionsInBetween() throws(InvalidInputError) {
    guard let configuration else { return }
    for step in steps.dropLast()
    where step.destination.entities(forConfigurationName: configuration) == nil {
      throw InvalidInputError(
        kind: .unusable,
        message: "\(store.relativePath) contains only the configuration \(configuration) of its "
          + "model, which the version \(step.to) doesn't have",
        nextStep: "add it to \(step.to), or add a mapping model that skips this version")
    }
  }

  /// Returns whether a difference is of an entity that the store contains in either version, or of
  /// the model.
  func concerns(_ difference: ModelDifference) -> Bool {
    difference.entity.map(isStored) ?? true
  }

  /// Returns whether a possible rename is of an entity that the store contains in either version.
  func concerns(_ rename: SuspectedRename) -> Bool {
    (rename.entity.map { [$0] } ?? [rename.removed, rename.added]).contains(where: isStored)
  }

  private func isStored(_ entity: String) -> Bool {
    guard let configuration else { return true }
    return [source, destination].contains { version in
      version.model.entities(forConfigurationName: configuration)?.contains { $0.name == entity }
        ?? false
    }
  }
}
