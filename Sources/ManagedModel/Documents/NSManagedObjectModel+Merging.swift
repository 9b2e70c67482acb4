extension NSManagedObjectModel {
  /// Creates a model that merges several models.
  ///
  /// The originals aren't changed. Entities, fetch request templates, and configurations of the
  /// same name become one; relationships and superentities refer to the merged entities. Traps if
  /// two of the same name differ, where Core Data raises an exception. **Cost:** linear in the size
  /// of the models.
  ///
  /// - Parameter models: The models, or `nil` for those in the main bundle. An empty array creates
  ///   an empty model.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    let models = models ?? Self.models(in: [.main])
    self.init()
    do {
      moveContents(from: try Self.merging(models))
    } catch {
      fatalError("The models can't be merged: \(error)")
    }
  }

  /// Creates a model that merges those models that a store was created with.
  ///
  /// Of models with the same entities and version hashes, such as versions that differ in a default
  /// value, the first is used.
  ///
  /// - Parameters:
  ///   - models: The models to choose from, which can include several versions of one model.
  ///   - metadata: The metadata of a store, with `NSStoreModelVersionHashes`.
  /// - Returns: `nil` if no selection of models has the store's entities and no others, as defined
  ///   by `isConfiguration(withName:compatibleWithStoreMetadata:)`.
  public convenience init?(
    byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]
  ) {
    let whole = models.first {
      $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }
    var names: Set<String> = []
    let chosen =
      whole.map { [$0] }
      ?? models.filter { model in
        let added = Set(model.entitiesByName.keys).subtracting(names)
        guard !added.isEmpty, model.isPart(ofStoreWith: metadata) else { return false }
        names.formUnion(added)
        return true
      }
    guard let merged = try? Self.merging(chosen),
      merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    else { return nil }
    self.init()
    moveContents(from: merged)
  }

  /// Returns a model that merges all models in bundles.
  ///
  /// Reads the current version of each `.momd`, `.mom`, `.xcdatamodeld`, and `.xcdatamodel` among a
  /// bundle's resources; Swift on Linux doesn't compile models. Traps like `init(byMerging:)`.
  ///
  /// - Parameter bundles: The bundles, or `nil` for the main bundle.
  /// - Returns: The model, which is empty if no model can be read; never `nil`.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let models = models(in: bundles ?? [.main])
    return models.count == 1 ? models[0] : NSManagedObjectModel(byMerging: models)
  }

  /// Returns a model that merges those models in bundles that a store was created with.
  ///
  /// Works like `init(byMerging:forStoreMetadata:)`, with every version of every model.
  ///
  /// - Parameters:
  ///   - bundles: The bundles, or `nil` for the main bundle.
  ///   - metadata: The metadata of a store.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    NSManagedObjectModel(byMerging: versions(in: bundles ?? [.main]), forStoreMetadata: metadata)
  }

  /// Returns the first version of a model in bundles that has a configuration with a store's
  /// entities; `nil` if there's none.
  ///
  /// - Parameters:
  ///   - bundles: The bundles.
  ///   - configuration: The name of the configuration.
  ///   - metadata: The metadata of the store.
  package static func version(
    in bundles: [Bundle], withConfiguration configuration: String,
    ofStoreWith metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    versions(in: bundles).first {
      $0.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    }
  }

  /// Returns every version of every model in bundles.
  private static func versions(in bundles: [Bundle]) -> [NSManagedObjectModel] {
    bundles.flatMap(modelURLs).flatMap { url in
      let versions = (try? ModelVersions(url))?.names ?? []
      return versions.compactMap { try? read(contentsOf: url, version: $0) }
    }
  }

  /// Returns a model in a bundle, or one of its versions.
  ///
  /// - Parameter name: The name of a model or a version, without its extension.
  package static func version(named name: String, in bundle: Bundle) -> NSManagedObjectModel? {
    let urls = modelURLs(in: bundle)
    for url in urls where (try? versions(of: url))?.contains(name) == true {
      if let model = try? read(contentsOf: url, version: name) { return model }
    }
    return urls.first { $0.deletingPathExtension().lastPathComponent == name }
      .flatMap { try? read(contentsOf: $0) }
  }

  /// Returns one model with the entities of several models.
  ///
  /// - Throws: An error for each entity and template that differs between two of the models.
  package static func merging(
    _ models: [NSManagedObjectModel]
  ) throws(ModelErrors) -> NSManagedObjectModel {
    var errors: [ModelError] = []
    var outlines: [String: [String]] = [:]
    var templates: [String: FetchRequestTemplate] = [:]
    for model in models {
      for entity in model.entities {
        let name = entity.name ?? ""
        if let known = outlines[name], known != entity.outline {
          errors.append(
            ModelError(
              "Two of the models have an entity \(name), and they differ.",
              nextStep: "Rename one of them, or make them identical.", entity: name))
        } else {
          outlines[name] = entity.outline
        }
      }
      for template in model.fetchRequestTemplates {
        if let known = templates.updateValue(template, forKey: template.name), known != template {
          errors.append(
            ModelError(
              "Two of the models have a fetch request \(template.name), and they differ.",
              nextStep: "Rename one of them, or make them identical."))
        }
      }
    }
    if !errors.isEmpty { throw ModelErrors(errors) }
    return ModelCopier().copy(models)
  }

  private static func models(in bundles: [Bundle]) -> [NSManagedObjectModel] {
    bundles.flatMap(modelURLs).compactMap { try? read(contentsOf: $0) }
  }

  /// Returns the models among the resources of a bundle, sorted by name.
  private static func modelURLs(in bundle: Bundle) -> [URL] {
    guard let folder = bundle.resourceURL else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.map { folder.appendingPathComponent($0) }
      .filter { ["momd", "mom", "xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
  }
}
