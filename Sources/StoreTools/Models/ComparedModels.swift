package import OpenCoreData
package import WorkbenchText

/// Two models and their differences.
package struct ComparedModels {
  /// The differences; none if only version hashes were compared.
  package let comparison: ModelComparison
  /// Whether only version hashes were compared, which are equal, because a store doesn't contain
  /// its model.
  package let isGuessed: Bool

  /// Compares two models.
  ///
  /// Properties inferred from tables differ from those of any model, so a store without a model is
  /// only compared by the version hashes in its metadata. **Cost:** that of `ModelComparison`; a
  /// store without a model is read twice.
  ///
  /// - Throws: An `InvalidInputError` if one is a store that doesn't contain its model, and its
  ///   version hashes aren't known to be those of the other.
  package init(from earlier: FoundModel, to later: FoundModel) throws {
    let guesses = [(earlier, later), (later, earlier)].filter { $0.0.origin == .tables }
    isGuessed = !guesses.isEmpty
    for (guess, other) in guesses {
      let isEqual = try guess.hasVersionHashes(of: other)
      if !isEqual { try guess.checkIsExact() }
    }
    let known = earlier.origin == .tables ? later : earlier
    comparison = ModelComparison(from: known.model, to: isGuessed ? known.model : later.model)
  }
}

extension FoundModel {
  /// Checks that the model wasn't inferred from a store's tables.
  ///
  /// - Throws: An `InvalidInputError` if it was.
  package func checkIsExact() throws(InvalidInputError) {
    guard origin == .tables else { return }
    let path = url.relativePath
    throw InvalidInputError(
      kind: .unusable,
      message: storeProblem.map { "the model in \(path) can't be read: \($0)" }
        ?? "\(path) doesn't contain its model",
      nextStep: "specify its version of the model")
  }

  /// Returns whether the version hashes in a store's metadata are those of another model or one of
  /// its configurations, or of the store that contains it.
  fileprivate func hasVersionHashes(of other: FoundModel) throws -> Bool {
    let metadata = try self.metadata()
    let configuration = other.model.configuration(ofStoreWith: metadata)
    if other.origin != .tables,
      other.model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    {
      return true
    }
    guard other.origin == .store || other.origin == .tables else { return false }
    let hashes = try [metadata, other.metadata()].map { metadata in
      metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    }
    return !hashes[0].isEmpty && hashes[0] == hashes[1]
  }

  private func metadata() throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
  }
}
