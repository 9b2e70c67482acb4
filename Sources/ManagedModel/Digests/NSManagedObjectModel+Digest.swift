extension NSManagedObjectModel {
  private static let hashesKey = "NSStoreModelVersionHashes"

  /// The version hashes of the entities by name, 32 bytes each, as the metadata of a store has them.
  ///
  /// Computed at each call. Apple's property has the same name; the bytes are ours.
  public var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// A hash of 32 bytes over the version hashes of all entities.
  ///
  /// Two models with the same digest can open each other's stores.
  package var digest: Data {
    var text = DigestText("model 1")
    for (name, hash) in entityVersionHashesByName.sorted(by: { $0.key < $1.key }) {
      text.add(name)
      text.add(Array(hash))
    }
    return Data(text.digest)
  }

  /// A text that is the same for models that can open each other's stores: the digest in Base64.
  ///
  /// Computed at each call. Apple's property has the same name; the text is ours.
  public var versionChecksum: String { digest.base64EncodedString() }

  /// The checksums of the versions of a model on disk, by the names of the versions.
  ///
  /// Reads every version. Apple's method has the same name and reads `.momd` folders alone.
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
  /// It does when the metadata has the version hash of every entity and no other. Hashes that
  /// Apple's framework computed never match. Apple's method has the same name.
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
    let own = entities.map { ($0.name ?? "", $0.versionHash) }
    return hashes == Dictionary(own, uniquingKeysWith: { first, _ in first })
  }
}
