import Foundation
import OpenCoreData
import WorkbenchText

// Stores that were made with a configuration of their model, and contain only its entities.

extension MigrationRoute {
  /// Returns the configuration to migrate a store with; see `MigrationPlanner.configuration`.
  ///
  /// - Parameters:
  ///   - path: The store.
  ///   - metadata: Its metadata.
  ///   - former: The model of the store, which can be there several times.
  ///   - versions: The versions that can be on the way.
  ///   - destination: The version to migrate it to.
  /// - Returns: `nil` if the store has all entities of its model.
  /// - Throws: `InvalidInputError` if the destination has no such configuration, or several with
  ///   different entities.
  static func configuration(
    ofStoreAt path: String, with metadata: [String: Any], from former: [ModelVersion],
    along versions: [ModelVersion], to destination: ModelVersion
  ) throws(InvalidInputError) -> String? {
    do throws(MigrationPlanner.ConfigurationProblem) {
      return try MigrationPlanner.configuration(
        ofStoreWith: metadata, from: former, along: versions, to: destination)
    } catch {
      switch error {
      case .ambiguous(let names):
        throw InvalidInputError(
          kind: .unusable,
          message: "\(path) matches the configurations \(names.joined(separator: " and ")), "
            + "which have different entities in \(destination.name)",
          nextStep: "remove all but one of them from a copy of the model")
      case .missing(let entities, let name):
        throw InvalidInputError(
          kind: .unusable,
          message: "\(path) contains only the entities of a configuration "
            + "(\(entities.joined(separator: ", "))), and \(destination.name) has no configuration "
            + (name ?? "with these entities"),
          nextStep: "add the configuration to \(destination.name)")
      }
    }
  }

  /// Checks that the versions between the steps have the configuration of the store.
  func checkVersionsInBetween() throws(InvalidInputError) {
    guard let configuration, let version = planner.versionWithoutConfiguration(between: steps)
    else { return }
    throw InvalidInputError(
      kind: .unusable,
      message: "\(store.relativePath) contains only the configuration \(configuration) of its "
        + "model, which the version \(version) doesn't have",
      nextStep: "add it to \(version), or add a mapping model that skips this version")
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
