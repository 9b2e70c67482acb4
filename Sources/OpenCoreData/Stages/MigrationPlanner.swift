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
  /// Groups of mapping models: for two versions, those of the first group that has any are used, as
  /// parts of one step.
  package let mappingModels: [[MappingModelFile]]
  /// The configuration of the versions that the store contains; `nil` for all entities.
  package let configuration: String?

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
  package init(
    versions: [ModelVersion], mappingModels: [[MappingModelFile]], configuration: String? = nil
  ) {
    (self.versions, self.mappingModels) = (versions, mappingModels)
    self.configuration = configuration
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

  /// Returns the position of the version that a store has, or of the last one with a configuration
  /// that has the store's entities; `nil` if there's none.
  package func position(ofStoreWith metadata: [String: Any]) -> Int? {
    versions.lastIndex {
      $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
      ?? versions.lastIndex { version in
        version.model.configurations(ofStoreWith: metadata).contains { name in
          version.model.isConfiguration(withName: name, compatibleWithStoreMetadata: metadata)
        }
      }
  }

  /// Returns the step with all mapping models between two versions, which may be others; `nil` if
  /// there are none.
  package func mappedStep(
    from source: ModelVersion, to destination: ModelVersion
  ) -> ProgressiveMigration.Step? {
    for group in mappingModels {
      let found = NSMappingModel.distinct(
        group.compactMap { $0.mappingModel(from: source.model, to: destination.model) })
      if !found.isEmpty {
        return ProgressiveMigration.Step(
          from: source, to: destination, mappingModels: found, configuration: configuration)
      }
    }
    return nil
  }

  /// Returns the step with all mapping models between two of the versions; `nil` if there are none.
  private func mappedStep(from start: Int, to end: Int) -> ProgressiveMigration.Step? {
    for group in matches {
      let found = NSMappingModel.distinct(
        group.filter { $0.sources.contains(start) && $0.destinations.contains(end) }
          .compactMap {
            $0.file.mappingModel(from: versions[start].model, to: versions[end].model)
          })
      if !found.isEmpty {
        return ProgressiveMigration.Step(
          from: versions[start], to: versions[end], mappingModels: found,
          configuration: configuration)
      }
    }
    return nil
  }

  /// Returns the inferred step between two versions.
  ///
  /// - Throws: A gap if no mapping can be inferred.
  package func inferredStep(
    from source: ModelVersion, to destination: ModelVersion
  ) throws(Gap) -> ProgressiveMigration.Step {
    let mapping = InferredMapping(from: source.model, to: destination.model)
    let obstacles = mapping.obstacles(in: configuration)
    guard obstacles.isEmpty else {
      throw Gap(from: source, to: destination, obstacles: obstacles)
    }
    return ProgressiveMigration.Step(
      from: source, to: destination, mappingModels: [], configuration: configuration)
  }

  /// Returns the steps from one version to a later one.
  ///
  /// Each step migrates to the next version if there's a mapping model for it, or to the latest
  /// version that a mapping model migrates to; otherwise to the nearest version for which a mapping
  /// can be inferred. A step from which the end can't be reached isn't taken.
  ///
  /// **Cost:** compares each two models at most once, and at most `ModelLimits.inferredPairs` of
  /// them that aren't neighbors.
  ///
  /// - Parameters:
  ///   - start: The position of the version to begin with.
  ///   - end: The position of the version to end with.
  /// - Throws: If the end can't be reached, the first gap between neighbors.
  package func steps(
    from start: Int, to end: Int
  ) throws(Gap) -> [ProgressiveMigration.Step] {
    guard start < end else { return [] }
    var search = Search(start: start, end: end)
    while let position = search.position, position < end {
      if let (target, step) = nextStep(&search) {
        search.take(step, to: target)
      } else {
        search.backtrack()
      }
    }
    guard search.position == end else {
      throw search.gap ?? Gap(from: versions[start], to: versions[end], obstacles: [])
    }
    return search.steps
  }

  /// The state of a search for steps.
  private struct Search {
    let end: Int
    /// The positions on the path, with the number of candidates for a step from each that were
    /// examined.
    private var path: [(position: Int, examined: Int)]
    private(set) var steps: [ProgressiveMigration.Step] = []
    /// The positions that are on the path, or from which the end can't be reached.
    private(set) var visited: Set<Int>
    /// The first neighbors between which there's no step.
    private(set) var gap: Gap?
    private var inferredPairs = 0

    init(start: Int, end: Int) {
      self.end = end
      path = [(start, 0)]
      visited = [start]
    }

    /// The last position of the path; `nil` if the end can't be reached.
    var position: Int? { path.last?.position }

    /// Returns the next target of a step that wasn't examined, and whether to infer a mapping to it
    /// instead of looking for a mapping model; `nil` if there's none.
    mutating func nextCandidate() -> (target: Int, isInferred: Bool)? {
      guard let (position, index) = path.last else { return nil }
      let count = end - position
      guard index < 2 * count else { return nil }
      path[path.count - 1].examined += 1
      // With a mapping model, the next version, and then the others, the last one first.
      if index < count { return (index == 0 ? position + 1 : end + 1 - index, false) }
      return (position + 1 + index - count, true)
    }

    /// Returns whether a mapping to a target can still be inferred.
    mutating func canInfer(_ target: Int) -> Bool {
      guard let position, target > position + 1 else { return true }
      inferredPairs += 1
      return inferredPairs <= ModelLimits.inferredPairs
    }

    mutating func note(_ gap: Gap) { self.gap = self.gap ?? gap }

    mutating func take(_ step: ProgressiveMigration.Step, to target: Int) {
      steps.append(step)
      path.append((target, 0))
      visited.insert(target)
    }

    mutating func backtrack() {
      path.removeLast()
      _ = steps.popLast()
    }
  }

  /// Returns the next step from the end of the path that wasn't taken, with its target; `nil` if
  /// there's none.
  private func nextStep(_ search: inout Search) -> (target: Int, step: ProgressiveMigration.Step)? {
    guard let position = search.position else { return nil }
    while let (target, isInferred) = search.nextCandidate() {
      if search.visited.contains(target) { continue }
      if !isInferred {
        if let step = mappedStep(from: position, to: target) { return (target, step) }
        continue
      }
      guard search.canInfer(target) else { continue }
      do {
        return (target, try inferredStep(from: versions[position], to: versions[target]))
      } catch {
        if target == position + 1 { search.note(error) }
      }
    }
    return nil
  }
}
