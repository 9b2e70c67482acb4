package import ManagedModel

/// The versions of a model and the mapping models between them, from which the steps of a migration
/// are planned.
package struct MigrationPlanner {
  /// Two versions without a mapping model, between which none can be inferred.
  package struct Gap: Error, Sendable {
    package let from: ModelVersion
    package let to: ModelVersion
    /// The changes that can't be inferred.
    package let obstacles: [ModelDifference]
  }

  /// The versions, in the order in which they were released.
  package let versions: [ModelVersion]
  /// Groups of mapping models: for two versions, the first group with any is used, as parts of one
  /// step.
  package let mappingModels: [[MappingModelFile]]

  /// For each group, the mapping models with the positions of the versions that they're made for.
  private let matches: [[Match]]

  private struct Match {
    let file: MappingModelFile
    let sources: Set<Int>
    let destinations: Set<Int>
  }

  /// Creates a planner.
  ///
  /// **Cost:** compares each mapping model with each version once.
  package init(versions: [ModelVersion], mappingModels: [[MappingModelFile]]) {
    (self.versions, self.mappingModels) = (versions, mappingModels)
    matches = mappingModels.map { group in
      group.map { file in
        Match(
          file: file,
          sources: Set(versions.indices.filter { file.isMade(from: versions[$0].model) }),
          destinations: Set(versions.indices.filter { file.isMade(to: versions[$0].model) }))
      }
    }
  }

  /// The mapping models that aren't made for any two of the versions.
  package var unusedMappingModels: [MappingModelFile] {
    matches.flatMap(\.self).filter { $0.sources.isEmpty || $0.destinations.isEmpty }.map(\.file)
  }

  /// Returns the position of the version that a store has; `nil` if it has none of them.
  package func position(ofStoreWith metadata: [String: Any]) -> Int? {
    versions.lastIndex {
      $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
  }

  /// Returns the step with all mapping models between two versions, which may be others; `nil` if
  /// there are none.
  package func mappedStep(
    from source: ModelVersion, to destination: ModelVersion
  ) -> ProgressiveMigration.Step? {
    for group in mappingModels {
      let found = group.compactMap { $0.mappingModel(from: source.model, to: destination.model) }
      if !found.isEmpty {
        return ProgressiveMigration.Step(from: source, to: destination, mappingModels: found)
      }
    }
    return nil
  }

  /// Returns the step with all mapping models between two of the versions; `nil` if there are none.
  private func mappedStep(from start: Int, to end: Int) -> ProgressiveMigration.Step? {
    for group in matches {
      let found = group.filter { $0.sources.contains(start) && $0.destinations.contains(end) }
        .compactMap {
          $0.file.mappingModel(from: versions[start].model, to: versions[end].model)
        }
      if !found.isEmpty {
        return ProgressiveMigration.Step(
          from: versions[start], to: versions[end], mappingModels: found)
      }
    }
    return nil
  }

  /// Returns the step between two versions that is inferred.
  package func inferredStep(
    from source: ModelVersion, to destination: ModelVersion
  ) throws(Gap) -> ProgressiveMigration.Step {
    let mapping = InferredMapping(from: source.model, to: destination.model)
    guard mapping.obstacles.isEmpty else {
      throw Gap(from: source, to: destination, obstacles: mapping.obstacles)
    }
    return ProgressiveMigration.Step(from: source, to: destination, mappingModels: [])
  }

  /// Returns the steps from one version to a later one.
  ///
  /// Each step leads to the next version with a mapping model for it, or to the latest version with
  /// a mapping model from the step's, or else to the next version by inference.
  /// - Parameters:
  ///   - start: The position of the version to begin with.
  ///   - end: The position of the version to end with.
  package func steps(
    from start: Int, to end: Int
  ) throws(Gap) -> [ProgressiveMigration.Step] {
    var steps: [ProgressiveMigration.Step] = []
    var position = start
    while position < end {
      let targets = [position + 1] + (position + 2..<max(end + 1, position + 2)).reversed()
      var found: (target: Int, step: ProgressiveMigration.Step)?
      for target in targets where found == nil {
        found = mappedStep(from: position, to: target).map { (target, $0) }
      }
      if let found {
        steps.append(found.step)
        position = found.target
      } else {
        steps.append(try inferredStep(from: versions[position], to: versions[position + 1]))
        position += 1
      }
    }
    return steps
  }
}
