extension NSManagedObjectModel {
  private static let hashesKey = "NSStoreModelVersionHashes"

  /// The key of the formula of a store's hashes in its metadata, if they're OpenCoreData's.
  package static let digestFormulaKey = "cdprof.modelDigestFormula"

  /// The key of the digests of the model that a store contains, in metadata that was read from its
  /// file.
  ///
  /// It's never stored. With it, a model is compared with a store that has hashes of Core Data's only.
  package static let storedModelDigestsKey = "cdprof.storedModelDigests"

  /// The version hashes of the entities by name, 32 bytes each, as the metadata of a store has them.
  ///
  /// They're Core Data's for entities that were read from a `.momd` and haven't changed, and
  /// OpenCoreData's for others; see `NSEntityDescription.versionHash`. Computed at each call.
  public var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// OpenCoreData's hashes of the entities by name, also where Core Data's are known.
  package var entityDigestsByName: [String: Data] { entitiesByName.mapValues(\.digest) }

  /// A hash of 32 bytes of OpenCoreData's hashes of all entities.
  ///
  /// Two models with the same digest can open each other's stores.
  package var digest: Data {
    var text = DigestText("model 1")
    for (name, hash) in entityDigestsByName.sorted(by: { $0.key < $1.key }) {
      text.add(name)
      text.add(Array(hash))
    }
    return Data(text.digest)
  }

  /// A string that is the same for models that can open each other's stores.
  ///
  /// It's Core Data's own checksum if the model was read from a `.momd` that has one and hasn't
  /// changed since; otherwise the digest in Base64. Computed at each call.
  public var versionChecksum: String {
    currentRecordedChecksum ?? digest.base64EncodedString()
  }

  /// Core Data's checksum of the model; nil if it isn't known, or the model has changed since.
  package var currentRecordedChecksum: String? {
    recordedChecksum.flatMap { $0.digest == digest ? $0.checksum : nil }
  }

  /// The checksums of the versions of a model on disk, by the names of the versions.
  ///
  /// Reads every version. Core Data's method reads `.momd` folders only.
  ///
  /// - Parameter url: A `.momd` or `.xcdatamodeld` folder, or a single model.
  /// - Throws: An `NSError` 259 with a sentence when a version cannot be read, 260 when there is no
  ///   such file.
  public class func checksums(forVersionedModelAt url: URL) throws -> [String: String] {
    do {
      return try versions(of: url).reduce(into: [:]) { checksums, version in
        checksums[version] = try read(contentsOf: url, version: version).versionChecksum
      }
    } catch {
      let isThere = FileManager.default.fileExists(atPath: url.path)
      let code = isThere ? CocoaError.Code.fileReadCorruptFile : .fileReadNoSuchFile
      throw NSError(
        domain: NSCocoaErrorDomain, code: code.rawValue,
        userInfo: [NSLocalizedDescriptionKey: "\(error)", NSFilePathErrorKey: url.path])
    }
  }

  /// Whether the model, or a configuration of it, describes a store with some metadata.
  ///
  /// It does if the metadata has the version hash of every entity and no other. Core Data's hashes
  /// match a model that was read from a `.momd` with a `VersionInfo.plist`. For other models,
  /// `metadataForPersistentStore(type:at:)` includes the digests of the model that the store
  /// contains, which are compared instead.
  ///
  /// - Parameters:
  ///   - configuration: The name of a configuration, or nil for all entities.
  ///   - metadata: The metadata of a store, with `NSStoreModelVersionHashes`.
  /// - Returns: False too when there is no such configuration or there are no hashes.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let hashes = metadata[Self.hashesKey] as? [String: Data]
    else { return false }
    guard Set(entities.map { $0.name ?? "" }) == Set(hashes.keys) else { return false }
    return entities.allSatisfy { Self.matches($0, hashes, metadata) }
  }

  /// Whether each entity is one that a store with some metadata was made with.
  ///
  /// The store can have further entities.
  func isPart(ofStoreWith metadata: [String: Any]) -> Bool {
    let hashes = metadata[Self.hashesKey] as? [String: Data] ?? [:]
    return entities.allSatisfy { Self.matches($0, hashes, metadata) }
  }

  private static func matches(
    _ entity: NSEntityDescription, _ hashes: [String: Data], _ metadata: [String: Any]
  ) -> Bool {
    guard let name = entity.name, let hash = hashes[name] else { return false }
    if metadata[digestFormulaKey] == nil, let recorded = entity.currentRecordedHash {
      return hash == recorded
    }
    let digests = metadata[storedModelDigestsKey] as? [String: Data]
    return digests?[name] == entity.digest || entity.matches(hash, digestFormula(of: metadata))
  }

  /// The formula of the hashes in the metadata of a store; the current one if it isn't known.
  package static func digestFormula(of metadata: [String: Any]) -> DigestFormula {
    let number = metadata[digestFormulaKey]
    let formula = number as? Int ?? (number as? NSNumber)?.intValue
    return formula.flatMap { DigestFormula(rawValue: $0) } ?? .current
  }
}
