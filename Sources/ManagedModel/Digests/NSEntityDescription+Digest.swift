/// A formula by which OpenCoreData computes digests of entities.
///
/// A store's metadata records the raw value of the formula of its digests. A raw value is never
/// reused.
package enum DigestFormula: Int, Sendable {
  /// The formula of earlier stores, which ignores uniqueness constraints.
  case withoutConstraints = 1
  /// The formula of new stores.
  case current = 2
}

/// A version hash that was read with an entity, and the entity's digest at that time.
package struct RecordedVersionHash: Hashable, Sendable {
  /// The hash, 32 bytes of Core Data's.
  package let hash: Data
  /// The digest of the entity that the hash belongs to; an entity with another digest has changed.
  package let digest: Data
}

extension NSEntityDescription {
  /// A hash of 32 bytes of everything in the entity that affects stored data.
  ///
  /// It's Core Data's own hash if the entity was read from a compiled model (`.momd`) with a
  /// `VersionInfo.plist` and hasn't changed since in a way that affects stored data. For any other
  /// entity, the hash is OpenCoreData's, which Core Data doesn't recognize. It covers the name,
  /// whether the entity is abstract, the hash modifier, the uniqueness constraints, the hash of the
  /// parent entity, and those of the entity's own properties. The class name, indexes, and
  /// `userInfo` aren't part of it: set a `versionHashModifier` if such a change must make stores
  /// incompatible. Computed at each call.
  public var versionHash: Data {
    let digest = digest
    return recordedHash(matching: digest) ?? digest
  }

  /// OpenCoreData's hash of the entity, also if Core Data's is known.
  package var digest: Data { digest(.current) }

  /// OpenCoreData's hash of the entity by one of its formulas.
  package func digest(_ formula: DigestFormula) -> Data { Data(digestBytes(formula)) }

  /// Core Data's hash of the entity; nil if it isn't known, or the entity has changed since.
  package var currentRecordedHash: Data? { recordedHash(matching: digest) }

  /// Records Core Data's hash of the entity as it is now.
  package func recordVersionHash(_ hash: Data) {
    recordedVersionHash = RecordedVersionHash(hash: hash, digest: digest)
  }

  /// Whether a version hash stands for the entity as it is: Core Data's or OpenCoreData's.
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
    var text = DigestText("entity 1")
    text.add(name)
    text.add(isAbstract)
    text.add(versionHashModifier)
    text.add(superentity?.digestBytes(formula) ?? [])
    for property in ownProperties.sorted(by: { $0.name < $1.name }) { text.add(property.digest) }
    // An entity without constraints has the same digest by all formulas.
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
