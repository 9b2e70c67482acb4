import Synchronization

extension NSManagedObjectModel {
  private static let hashesKey = "NSStoreModelVersionHashes"

  /// The key of the formula of a store's hashes in its metadata, if they're OpenCoreData's.
  package static let digestFormulaKey = "cdprof.modelDigestFormula"

  /// The key of the digests of the model that a store contains, in metadata that was read from its
  /// file.
  ///
  /// It's never stored. It allows comparing a model with a store that has only Core Data's hashes.
  package static let storedModelDigestsKey = "cdprof.storedModelDigests"

  /// The version hashes of the entities by name, 32 bytes each, as in the metadata of a store.
  ///
  /// They're Core Data's for entities that were read from a `.momd` and haven't changed, and
  /// OpenCoreData's for others; see `NSEntityDescription.versionHash`.
  public var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// OpenCoreData's hashes of the entities by name, even if Core Data's are known.
  package var entityDigestsByName: [String: Data] { entitiesByName.mapValues(\.digest) }

  /// A 32-byte hash of OpenCoreData's hashes of all entities.
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

  /// A string that's equal for models that can open each other's stores.
  ///
  /// It's Core Data's own checksum if the model was read from a `.momd` that has one and hasn't
  /// changed since; otherwise, it's the digest in Base64. Computed at each call.
  public var versionChecksum: String {
    currentRecordedChecksum ?? digest.base64EncodedString()
  }

  /// Core Data's checksum of the model; `nil` if it isn't known, or the model has changed since.
  package var currentRecordedChecksum: String? {
    recordedChecksum.flatMap { $0.digest == digest ? $0.checksum : nil }
  }

  /// Returns whether a checksum is the model's, in one of the forms in which it's known.
  ///
  /// The form of Core Data's checksum is that of Xcode's build log and `VersionInfo.plist`: the
  /// SHA-256 of the entities' version hashes in the order of their names.
  package func hasChecksum(_ checksum: String) -> Bool {
    if checksum == versionChecksum || checksum == digest.base64EncodedString() { return true }
    let recorded = entities.sortedByName().map(\.currentRecordedHash)
    guard !recorded.isEmpty, !recorded.contains(nil) else { return false }
    let bytes = recorded.flatMap { Array($0 ?? Data()) }
    return Data(SHA256.hash(bytes)).base64EncodedString() == checksum
  }

  /// Returns the checksums of a model's versions on disk, by version name.
  ///
  /// Reads every version. Core Data's method reads `.momd` folders only.
  ///
  /// - Parameter url: A `.momd` or `.xcdatamodeld` folder, or a single model.
  /// - Throws: An `NSError` 259 with a description if a version can't be read, 260 if the file
  ///   doesn't exist.
  public class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
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

  /// Returns whether the model, or a configuration, is compatible with a store's metadata.
  ///
  /// It is if the metadata has the version hash of every entity and no other. Core Data's hashes
  /// match a model that was read from a `.momd` with a `VersionInfo.plist`. For other models,
  /// `metadataForPersistentStore(type:at:)` includes the digests of the model that the store
  /// contains, which are compared instead.
  ///
  /// - Parameters:
  ///   - configuration: The name of a configuration, or `nil` for all entities.
  ///   - metadata: The metadata of a store, with `NSStoreModelVersionHashes`.
  /// - Returns: Also false if the configuration doesn't exist or the metadata has no hashes.
  public func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let hashes = metadata[Self.hashesKey] as? [String: Data]
    else { return false }
    guard Set(entities.map { $0.name ?? "" }) == Set(hashes.keys) else { return false }
    return entities.allSatisfy { Self.matches($0, hashes, metadata) }
  }

  /// Returns the names of the configurations that have the entities of a store and no others,
  /// sorted; empty if the store has all entities of the model.
  ///
  /// Only names are compared, so the store can have another version of the model.
  ///
  /// - Parameter metadata: The metadata of a store, with `NSStoreModelVersionHashes`.
  package func configurations(ofStoreWith metadata: [String: Any]) -> [String] {
    let hashes = metadata[Self.hashesKey] as? [String: Data] ?? [:]
    let names = Set(hashes.keys)
    guard !names.isEmpty, names != Set(entitiesByName.keys) else { return [] }
    return configurations.filter { configuration in
      let members = entities(forConfigurationName: configuration) ?? []
      return Set(members.compactMap(\.name)) == names
    }
  }

  /// Returns the configuration that a store was made with; `nil` if the store has all entities of
  /// the model, or those of no configuration.
  ///
  /// If several configurations have the store's entities, returns the first one by name: a store of
  /// one is a store of each. Only names are compared, as in `configurations(ofStoreWith:)`.
  ///
  /// - Parameter metadata: The metadata of a store, with `NSStoreModelVersionHashes`.
  package func configuration(ofStoreWith metadata: [String: Any]) -> String? {
    configurations(ofStoreWith: metadata).first
  }

  /// Returns whether a store's metadata has the version hash of each entity.
  ///
  /// The store can have other entities.
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

  /// Returns the formula of the hashes in the metadata of a store, or the current one if it isn't
  /// known.
  ///
  /// Metadata without a formula can be that of a program's own store with earlier hashes, which is
  /// accepted: only a file of Core Data's format has other bytes with external storage.
  package static func digestFormula(of metadata: [String: Any]) -> DigestFormula {
    guard let number = metadata[digestFormulaKey] else { return .withoutExternalStorage }
    let formula = number as? Int ?? (number as? NSNumber)?.intValue
    return formula.flatMap { DigestFormula(rawValue: $0) } ?? .current
  }
}

/// A formula by which OpenCoreData computes digests of entities.
///
/// A store's metadata records the raw value of the formula of its digests. A raw value is never
/// reused.
package enum DigestFormula: Int, Sendable {
  /// The formula of the earliest stores, which ignores uniqueness constraints and external storage.
  case withoutConstraints = 1
  /// The formula of earlier stores, which ignores external storage.
  case withoutExternalStorage = 2
  /// The formula of new stores.
  case current = 3
}

extension NSEntityDescription {
  /// A 32-byte hash of all aspects of the entity that affect stored data.
  ///
  /// It's Core Data's own hash if the entity was read from a compiled model (`.momd`) with a
  /// `VersionInfo.plist` and hasn't changed since in a way that affects stored data. For any other
  /// entity, the hash is OpenCoreData's, which Core Data doesn't recognize. It covers the name,
  /// whether the entity is abstract, the hash modifier, the uniqueness constraints, the hash of the
  /// superentity, and those of the properties that the entity declares. The class name, indexes,
  /// and `userInfo` aren't part of it: set a `versionHashModifier` if such a change must make
  /// stores incompatible. **Cost:** computed at each call until the model is in use.
  public var versionHash: Data {
    let digest = digest
    return recordedHash(matching: digest) ?? digest
  }

  /// OpenCoreData's hash of the entity, even if Core Data's is known.
  package var digest: Data { digest(.current) }

  /// Returns OpenCoreData's hash of the entity by one of its formulas.
  package func digest(_ formula: DigestFormula) -> Data { Data(digestBytes(formula)) }

  /// Core Data's hash of the entity; `nil` if it isn't known, or the entity has changed since.
  package var currentRecordedHash: Data? {
    recordedVersionHash == nil ? nil : recordedHash(matching: digest)
  }

  /// Records Core Data's hash of the entity in its current state.
  package func recordVersionHash(_ hash: Data) {
    recordedVersionHash = RecordedVersionHash(hash: hash, digest: digest)
  }

  /// Returns whether a version hash, Core Data's or OpenCoreData's, is that of the entity.
  ///
  /// - Parameters:
  ///   - hash: The hash, from the metadata of a store.
  ///   - formula: The formula of the store's digests, which may be an earlier one.
  package func matches(_ hash: Data, _ formula: DigestFormula = .current) -> Bool {
    let digest = digest
    return hash == digest || hash == recordedHash(matching: digest)
      || (formula != .current && hash == self.digest(formula))
  }

  private func recordedHash(matching digest: Data) -> Data? {
    recordedVersionHash.flatMap { $0.digest == digest ? $0.hash : nil }
  }

  private func digestBytes(_ formula: DigestFormula) -> [UInt8] {
    guard isFrozen, formula == .current else { return computedDigest(formula) }
    if let known = frozenDigest.withLock({ $0 }) { return known }
    let digest = computedDigest(formula)
    frozenDigest.withLock { $0 = digest }
    return digest
  }

  private func computedDigest(_ formula: DigestFormula) -> [UInt8] {
    var text = DigestText("entity 1")
    text.add(name)
    text.add(isAbstract)
    text.add(versionHashModifier)
    text.add(superentity?.digestBytes(formula) ?? [])
    for property in ownProperties.sortedByName() {
      text.add(property.digest(formula))
    }
    // An entity without constraints and external storage has the same digest by all formulas.
    if formula != .withoutConstraints {
      let constraints = uniquenessConstraintNames
      for names in constraints.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        text.add("unique")
        text.add(names.count)
        for name in names { text.add(name) }
      }
    }
    return text.digest
  }
}

extension NSPropertyDescription {
  /// A 32-byte hash of the aspects of the property that affect stored data.
  ///
  /// It covers the name, whether the property is optional and transient, the hash modifier, the
  /// type and external storage of an attribute, and destination, inverse, counts, and ordering of a
  /// relationship. Indexes, default values, validation, delete rules, derivation, value
  /// transformers, and `userInfo` aren't part of it: set a `versionHashModifier` if a change of one
  /// of them requires a migration. The bytes differ from Core Data's. **Cost:** computed at each
  /// call.
  public var versionHash: Data { Data(digest(.current)) }

  final func digest(_ formula: DigestFormula) -> [UInt8] {
    var text = DigestText("property 1")
    text.add(name)
    text.add(isOptional)
    text.add(isTransient)
    text.add(versionHashModifier)
    switch self {
    case let attribute as NSAttributeDescription:
      text.add("attribute")
      text.add(Int(attribute.attributeType.rawValue))
      if formula == .current, attribute.hasExternalValues { text.add("external") }
      if let composite = attribute as? NSCompositeAttributeDescription {
        for element in composite.elements.sortedByName() {
          text.add(element.digest(formula))
        }
      }
    case let relationship as NSRelationshipDescription:
      text.add("relationship")
      text.add(relationship.destinationEntity?.name)
      text.add(relationship.inverseRelationship?.name)
      text.add(relationship.minCount)
      text.add(relationship.maxCount)
      text.add(relationship.isOrdered)
    default:
      text.add("other")
    }
    return text.digest
  }
}

/// Encodes values for a digest so that two lists of the same types have the same bytes only if
/// they're equal.
struct DigestText {
  private var bytes: [UInt8]

  /// Creates a text that begins with the subject of the values.
  init(_ subject: String) {
    bytes = []
    bytes.reserveCapacity(256)
    add(subject)
  }

  /// Adds a string, or a marker if it's `nil`.
  mutating func add(_ text: String?) {
    guard let text else { return bytes.append(0) }
    add(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Adds a number.
  mutating func add(_ number: Int) {
    add("\(number)")
  }

  /// Adds a Boolean value.
  mutating func add(_ flag: Bool) {
    add(flag ? "yes" : "no")
  }

  /// Adds bytes, preceded by their number.
  mutating func add(_ content: [UInt8]) {
    add(count: content.count)
    bytes += content
  }

  private mutating func add(count: Int) {
    bytes.append(1)
    for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * index))) }
  }

  /// The 32 bytes of the digest.
  var digest: [UInt8] { SHA256.hash(bytes) }
}
