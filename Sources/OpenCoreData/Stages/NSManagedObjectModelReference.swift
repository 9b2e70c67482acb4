import ManagedModel

/// Refers to a version of a model, which is read when it's needed.
///
/// Apple counterpart: `NSManagedObjectModelReference`.
open class NSManagedObjectModelReference: NSObject {
  /// The checksum of the version: `versionChecksum` of the model.
  public final let versionChecksum: String
  private let source: Source
  private var resolved: NSManagedObjectModel?

  private enum Source {
    case model(NSManagedObjectModel)
    case file(URL)
    case resource(String, Bundle)
    case hashes([String: Data], Bundle)
  }

  /// Refers to a model.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    (source, self.versionChecksum) = (.model(model), versionChecksum)
  }

  /// Refers to a model in a file: a `.mom`, or the current version of a folder of versions.
  public init(fileURL: URL, versionChecksum: String) {
    (source, self.versionChecksum) = (.file(fileURL), versionChecksum)
  }

  /// Refers to a version by name, among the models in a bundle.
  ///
  /// - Parameters:
  ///   - modelName: The name of a model or of a version of one, without its extension.
  ///   - bundle: The bundle; `nil` for the main bundle.
  ///   - versionChecksum: The version checksum of the model.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    (source, self.versionChecksum) = (.resource(modelName, bundle ?? .main), versionChecksum)
  }

  /// Refers to a version by the version hashes of its entities, among the models in a bundle.
  ///
  /// - Parameters:
  ///   - entityVersionHashes: The version hashes by entity name.
  ///   - bundle: The bundle; `nil` for the main bundle.
  ///   - versionChecksum: The version checksum of the model.
  public init(entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String)
  {
    let hashes = entityVersionHashes.reduce(into: [String: Data]()) { hashes, entry in
      if let name = entry.key as? String, let hash = entry.value as? Data { hashes[name] = hash }
    }
    (source, self.versionChecksum) = (.hashes(hashes, bundle ?? .main), versionChecksum)
  }

  /// The model.
  ///
  /// It's a programmer error if there's no such model, or it has another checksum. **Cost:** the
  /// first call reads the model.
  open var resolvedModel: NSManagedObjectModel {
    do {
      return try resolve()
    } catch {
      fatalError(error.localizedDescription)
    }
  }

  /// Returns the model.
  ///
  /// - Throws: 134504 if there's no such model, or it has another checksum.
  final func resolve() throws -> NSManagedObjectModel {
    if let resolved { return resolved }
    guard let model = found() else {
      throw NSError.coreData(
        NSManagedObjectModelReferenceNotFoundError,
        "The model \(title) of a migration stage wasn't found.",
        ["versionChecksum": versionChecksum])
    }
    guard model.hasChecksum(versionChecksum) else {
      throw NSError.coreData(
        NSManagedObjectModelReferenceNotFoundError,
        "The model \(title) of a migration stage has the checksum \(model.versionChecksum), not "
          + "\(versionChecksum): it was changed, or isn't the intended one.",
        ["versionChecksum": versionChecksum])
    }
    resolved = model
    return model
  }

  private func found() -> NSManagedObjectModel? {
    switch source {
    case .model(let model): model
    case .file(let url): NSManagedObjectModel(contentsOf: url)
    case .resource(let name, let bundle): NSManagedObjectModel.version(named: name, in: bundle)
    case .hashes(let hashes, let bundle):
      NSManagedObjectModel.mergedModel(
        from: [bundle], forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
    }
  }

  private var title: String {
    switch source {
    case .model(let model): model.entities.compactMap(\.name).sorted().joined(separator: ", ")
    case .file(let url): url.path
    case .resource(let name, let bundle): "\(name) in \(bundle.bundlePath)"
    case .hashes(_, let bundle): "with the given version hashes in \(bundle.bundlePath)"
    }
  }
}
