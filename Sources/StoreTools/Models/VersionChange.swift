import OpenCoreData

/// The change from an earlier version of a checked model.
struct VersionChange {
  /// A version that exists both earlier and now.
  struct Edit {
    /// The name of the version.
    let version: String
    /// The entities whose version hashes differ, by name.
    let entities: [String]
  }

  let comparison: ModelComparison
  /// The versions of the checked model that differ from those of the same name in an earlier build,
  /// or from that of the store.
  let edits: [Edit]

  /// Compares a model with an earlier version.
  ///
  /// **Cost:** reads the versions of the model that the earlier file also has, or all of them if
  /// it's a store.
  /// - Throws: The errors of a version that can't be read.
  init(from earlier: FoundModel, to found: FoundModel) throws {
    comparison = ModelComparison(from: earlier.model, to: found.model)
    let isFolder = ["xcdatamodeld", "momd"].contains(found.url.pathExtension)
    guard isFolder, earlier.url.standardizedFileURL != found.url.standardizedFileURL else {
      edits = []
      return
    }
    edits =
      earlier.origin == .store
      ? try Self.editedVersion(of: earlier.model, in: found).map { [$0] } ?? []
      : try Self.edits(from: earlier, to: found)
  }

  private static func edits(from earlier: FoundModel, to found: FoundModel) throws -> [Edit] {
    try earlier.versions.filter(found.versions.contains).compactMap { version in
      let before = try NSManagedObjectModel.read(contentsOf: earlier.url, version: version)
      let after = try NSManagedObjectModel.read(contentsOf: found.url, version: version)
      let entities = differing(before, after)
      return entities.isEmpty ? nil : Edit(version: version, entities: entities)
    }
  }

  /// Returns the version that a store most likely has; `nil` if it has one of them unchanged.
  private static func editedVersion(
    of model: NSManagedObjectModel, in found: FoundModel
  ) throws -> Edit? {
    let edits = try found.versions.map { version in
      let candidate = try NSManagedObjectModel.read(contentsOf: found.url, version: version)
      let isNamed = !model.versionIdentifiers.isDisjoint(with: candidate.versionIdentifiers)
      return (
        edit: Edit(version: version, entities: differing(model, candidate)), isNamed: isNamed
      )
    }
    guard !edits.contains(where: { $0.edit.entities.isEmpty }) else { return nil }
    let named = edits.filter(\.isNamed)
    return (named.isEmpty ? edits : named)
      .min { $0.edit.entities.count < $1.edit.entities.count }?.edit
  }

  /// Returns the names of the entities that only one of two models has, or that differ in stored
  /// data.
  private static func differing(
    _ before: NSManagedObjectModel, _ after: NSManagedObjectModel
  ) -> [String] {
    let digests = [before, after].map { model in
      Dictionary(
        model.entities.map { ($0.name ?? "", $0.digest) }, uniquingKeysWith: { first, _ in first })
    }
    return Set(digests[0].keys).union(digests[1].keys)
      .filter { digests[0][$0] != digests[1][$0] }.sorted()
  }
}
