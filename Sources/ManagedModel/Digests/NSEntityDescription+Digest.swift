extension NSEntityDescription {
  /// A hash of 32 bytes over what of the entity affects stored data.
  ///
  /// Covers the name, whether it is abstract, the hash modifier, the hash of the parent and those
  /// of the own properties. Class name, indexes, uniqueness constraints and notes do not count: give
  /// a `versionHashModifier` where a change of those has to reach stores. Computed at each call.
  /// Apple's property has the same name; the bytes are ours, so that Apple's framework does not
  /// recognise them.
  public var versionHash: Data { digest }

  /// The hash that `versionHash` gives.
  package var digest: Data { Data(digestBytes) }

  private var digestBytes: [UInt8] {
    var text = DigestText("entity 1")
    text.add(name)
    text.add(isAbstract)
    text.add(versionHashModifier)
    text.add(superentity?.digestBytes ?? [])
    for property in ownProperties.sorted(by: { $0.name < $1.name }) { text.add(property.digest) }
    return text.digest
  }
}
