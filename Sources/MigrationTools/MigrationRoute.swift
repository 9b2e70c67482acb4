package import Foundation
package import OpenCoreData
package import StoreTools
import WorkbenchText

/// The way from the version of a store to another version of its model.
package struct MigrationRoute {
  /// A policy class that a mapping model names, which only its app has.
  package struct Policy: Sendable, Equatable {
    /// The name of the entity mapping.
    package let mapping: String
    package let className: String
  }

  /// The store.
  package let store: URL
  /// SQLite, XML, or binary.
  package let type: NSPersistentStore.StoreType
  /// The version of the store; the name is empty if none of the versions is the store's.
  package let source: ModelVersion
  /// The version to migrate to.
  package let destination: ModelVersion
  /// The configuration of the versions that the store contains; `nil` for all entities.
  package let configuration: String?
  /// Whether the store already has the version.
  package let isCurrent: Bool
  /// The steps; empty if the store already has the version, or there's no way.
  package private(set) var steps: [ProgressiveMigration.Step] = []
  /// The versions between which there's no way; `nil` if there's one.
  package private(set) var gap: MigrationPlanner.Gap?
  /// What to know before the migration, each in a sentence or two.
  package private(set) var warnings: [String] = []

  private(set) var planner: MigrationPlanner
  private let start: Int?
  private let end: Int?

  /// Finds the way: with a mapping model between the two versions, or else inferred, or else along
  /// the versions in the model's folder.
  ///
  /// Mapping models are those of `mappings`, or else those in the folder of versions and next to
  /// it. No row is read, and no file is modified.
  /// - Parameters:
  ///   - path: The store.
  ///   - found: The version to migrate it to.
  ///   - mappings: Mapping models, which are used before others.
  ///   - isProgressive: Whether to migrate version by version, even if a direct migration is
  ///     possible.
  /// - Throws: `InvalidInputError` if the store can't be read, its version is unknown, or a version
  ///   lacks the configuration that the store was made with; `ModelErrors` for a mapping model that
  ///   can't be used, or a version or a mapping model next to them that can't be read.
  package init(
    of path: String, to found: FoundModel, mappings: [String] = [], isProgressive: Bool = false
  ) throws {
    let versions = try Self.versions(of: found)
    var (files, others) = try Self.mappingModels(at: mappings)
    let folders =
      versions.folder.map { [$0, $0.deletingLastPathComponent()] }
      ?? [found.url.deletingLastPathComponent()]
    planner = MigrationPlanner(versions: versions.all, mappingModels: [])
    store = URL(fileURLWithPath: path)
    let document = try Self.document(at: path)
    type = document?.type ?? .sqlite
    let stored = try document == nil ? FoundModel(path: path) : nil
    if let stored, stored.origin != .store, stored.origin != .tables {
      throw InvalidInputError(
        kind: .unusable, message: "\(path) is a model, not a store", nextStep: "specify a store")
    }
    let metadata =
      try document?.metadata
      ?? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: store)
    start = planner.position(ofStoreWith: metadata)
    end = found.version.flatMap { name in versions.all.firstIndex { $0.name == name } }
    let name = start.map { versions.all[$0].name } ?? ""
    if stored?.origin == .store {
      source = ModelVersion(
        name: name, model: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store)
      )
    } else if let start {
      source = versions.all[start]
    } else {
      throw Self.unknownVersion(path, found, versions.all.map(\.name))
    }
    destination =
      end.map { versions.all[$0] }
      ?? ModelVersion(
        name: found.version ?? found.url.lastPathComponent, model: found.model)
    let former = [source] + (start.map { [versions.all[$0]] } ?? [])
    configuration = try Self.configuration(
      ofStoreAt: path, with: metadata, from: former, along: versions.all, to: destination)
    isCurrent =
      configuration == nil
      ? source.model.digest == destination.model.digest
      : destination.model.isConfiguration(
        withName: configuration, compatibleWithStoreMetadata: metadata)
    warnings = versions.problems
    guard !isCurrent else {
      addUnmigratedWarnings()
      return
    }
    // A mapping model that isn't made for any of the versions can still fit the two.
    let unusable = unusable(files)
    others += unusable
    files.removeAll { unusable.contains($0.url) }
    let alongside = try folders.flatMap { try MappingModelFile.all(in: $0) }
    planner = MigrationPlanner(
      versions: versions.all, mappingModels: [files, alongside], configuration: configuration)
    try find(others, isProgressive)
    try checkVersionsInBetween()
    addWarnings(about: alongside, given: files)
  }

  private static func unknownVersion(
    _ path: String, _ found: FoundModel, _ names: [String]
  ) -> InvalidInputError {
    InvalidInputError(
      kind: .unusable,
      message: "\(path) doesn't contain its model, and none of the versions in "
        + "\(found.url.relativePath) is its version"
        + (names.isEmpty ? "" : ": \(names.joined(separator: ", "))"),
      nextStep: "specify a folder of versions that has the version of the store")
  }

  /// Returns the type and metadata of an XML or binary store; `nil` for another file.
  ///
  /// **Cost:** reads the document as a whole if it begins like one.
  private static func document(
    at path: String
  ) throws -> (type: NSPersistentStore.StoreType, metadata: [String: Any])? {
    let url = URL(fileURLWithPath: path)
    guard FileKind.mode(of: path, followingLinks: true).map({ $0 & S_IFMT == S_IFREG }) == true,
      let file = try? FileHandle(forReadingFrom: url)
    else { return nil }
    let start: Data
    do {
      start = try file.read(upToCount: 8) ?? Data()
    } catch {
      throw InputFile.error(path, FileErrorText.errno(of: error as NSError) ?? EIO)
    }
    let type: NSPersistentStore.StoreType =
      if start == Data("bplist00".utf8) { .binary } else { .xml }
    guard type == .binary || start.starts(with: Data("<?xml".utf8)),
      // Models and other files can begin in the same way.
      let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
        type: type, at: url)
    else { return nil }
    return (type, metadata)
  }

  // MARK: Versions and mapping models

  /// Returns the versions next to a version, and what's wrong with those that are invalid.
  ///
  /// - Throws: An error if a file can't be read: without its version, there's another way.
  private static func versions(
    of found: FoundModel
  ) throws(ModelErrors) -> (all: [ModelVersion], folder: URL?, problems: [String]) {
    let folder = [found.url, found.url.deletingLastPathComponent()].first {
      ["momd", "xcdatamodeld"].contains($0.pathExtension)
    }
    guard let folder else { return ([], nil, []) }
    var names: [String] = []
    do throws(ModelErrors) {
      names = try NSManagedObjectModel.versions(of: folder)
    } catch {
      if error.isUnreadable { throw error }
      return ([], nil, [])
    }
    var problems: [String] = []
    var versions: [ModelVersion] = []
    for name in names {
      do throws(ModelErrors) {
        let model = try NSManagedObjectModel.read(contentsOf: folder, version: name)
        versions.append(ModelVersion(name: name, model: model))
      } catch {
        if error.isUnreadable { throw error }
        problems.append("The version \(name) can't be read: \(error)")
      }
    }
    return (versions, folder, problems)
  }

  /// Reads mapping models; those whose models aren't found are returned as files.
  private static func mappingModels(
    at paths: [String]
  ) throws -> (files: [MappingModelFile], others: [URL]) {
    var (files, others): ([MappingModelFile], [URL]) = ([], [])
    for path in paths {
      try InvalidInputError.checkExists(path)
      let url = URL(fileURLWithPath: path)
      do throws(ModelErrors) {
        files.append(try MappingModelFile(url))
      } catch {
        if error.isUnreadable { throw error }
        others.append(url)
      }
    }
    return (files, others)
  }

  /// Returns the mapping models that are made neither for two of the versions, nor for the store's
  /// and the last.
  private func unusable(_ files: [MappingModelFile]) -> [URL] {
    MigrationPlanner(versions: planner.versions, mappingModels: [files]).unusedMappingModels
      .filter { !$0.isMade(from: source.model) || !$0.isMade(to: destination.model) }.map(\.url)
  }

  // MARK: Ways

  private mutating func find(_ others: [URL], _ isProgressive: Bool) throws {
    let direct = try others.map { url in
      try NSMappingModel.read(contentsOf: url, from: source.model, to: destination.model)
    }
    guard direct.isEmpty else {
      steps = [
        ProgressiveMigration.Step(
          from: source, to: destination, mappingModels: direct, configuration: configuration)
      ]
      return
    }
    if !isProgressive {
      if let step = planner.mappedStep(from: source, to: destination) {
        steps = [step]
        return
      }
      do {
        steps = [try planner.inferredStep(from: source, to: destination)]
        return
      } catch {
        gap = error
      }
    }
    guard let start, let end, start < end else {
      if isProgressive { throw notAlongVersions }
      return
    }
    do {
      steps = try planner.steps(from: start, to: end)
      gap = nil
    } catch {
      gap = gap ?? error
      if let gap, gap.from.name != error.from.name || gap.to.name != error.to.name {
        warnings.append(
          "A version-by-version migration isn't possible, either: there's no mapping model from "
            + "\(error.from.name) to \(error.to.name), and none can be inferred.")
      }
    }
  }

  private var notAlongVersions: InvalidInputError {
    let reason =
      if let start, let end {
        "it has the version \(planner.versions[start].name), which is later than "
          + planner.versions[end].name
      } else {
        "the model isn't in a folder with its version"
      }
    return InvalidInputError(
      kind: .unusable,
      message: "\(store.relativePath) can't be migrated version by version: \(reason)",
      nextStep: "omit --progressive, or specify a .momd or .xcdatamodeld with later versions")
  }

  // MARK: Policies and warnings

  /// Returns the policies that the mapping models of a step name.
  package static func policies(of step: ProgressiveMigration.Step) -> [Policy] {
    step.mappingModels.flatMap { $0.entityMappings ?? [] }.compactMap { mapping in
      guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty,
        name != "NSEntityMigrationPolicy"
      else { return nil }
      return Policy(mapping: mapping.name ?? "", className: name)
    }
  }

  /// Whether a version-by-version migration would use mapping models that the direct one doesn't.
  package var hasMappedDetour: Bool {
    guard let start, let end, start < end, steps.count == 1,
      steps.allSatisfy(\.mappingModels.isEmpty),
      let along = try? planner.steps(from: start, to: end)
    else { return false }
    return along.count > 1 && along.contains { !$0.mappingModels.isEmpty }
  }

  private mutating func addWarnings(
    about files: [MappingModelFile], given: [MappingModelFile]
  ) {
    if let start, let end, start > end {
      warnings.append(
        "The store's version, \(planner.versions[start].name), is later than \(destination.name).")
    }
    if type != .sqlite, !steps.isEmpty {
      warnings.append(
        "An XML or binary store is migrated by copying its objects in memory, which assigns new "
          + "primary keys, so URIs of object IDs that the app has saved elsewhere become invalid.")
    } else if steps.contains(where: { !$0.mappingModels.isEmpty }) {
      warnings.append(
        "Migration with a mapping model assigns new primary keys, so URIs of object IDs that the app has "
          + "saved elsewhere become invalid, and doesn't copy persistent history.")
    }
    for file in given {
      let isUsed = steps.contains {
        file.isMade(from: $0.source) && file.isMade(to: $0.destination)
      }
      guard !isUsed else { continue }
      warnings.append(
        "The mapping model \(file.url.lastPathComponent) isn't used: it was made for a step that isn't "
          + "needed. --progressive migrates version by version.")
    }
    for url in unusable(files) {
      warnings.append(
        "The mapping model \(url.lastPathComponent) is ignored: it wasn't made for any two of the "
          + "versions, or one was edited afterward. If it belongs to this model, re-create it.")
    }
  }

  /// Notes the indexes and derived values that the store doesn't get because the version is the
  /// same.
  private mutating func addUnmigratedWarnings() {
    guard type == .sqlite else { return }
    let comparison = ModelComparison(from: source.model, to: destination.model)
    for difference in comparison.differences where concerns(difference) {
      if difference.subject == .index, difference.kind != .removed {
        warnings.append(
          "The index \(difference.path) isn't created in this store: the version hashes are the same, so it "
            + "isn't migrated. Give the entity a hash modifier.")
      } else if difference.isOfDerivation {
        warnings.append(
          "The values of \(difference.path) \(unmigratedState(of: difference)) (\(difference.detail ?? "")): "
            + "the version hashes are the same, so the store isn't migrated. Give the attribute a hash "
            + "modifier.")
      }
    }
  }

  /// Returns what remains of the derivation of an attribute, as the end of a clause.
  private func unmigratedState(of difference: ModelDifference) -> String {
    func isDerived(in model: NSManagedObjectModel) -> Bool {
      let entity = difference.entity.flatMap { model.entitiesByName[$0] }
      return difference.name.flatMap { entity?.attributesByName[$0] }?.isDerived == true
    }
    return switch (isDerived(in: source.model), isDerived(in: destination.model)) {
    case (false, true): "stay as they are, and aren't computed"
    case (true, false):
      "are still computed by the store, although the attribute isn't derived anymore"
    default: "are still computed as before"
    }
  }
}
