import OpenCoreData

/// What a store says of the version of one entity, and our digest of that entity.
package struct InspectedDigest: Sendable, Equatable, Encodable {
  package var entity: String
  /// Our digest in hexadecimal digits; nil when the store carries no model that can be read, or a
  /// model without the entity.
  package var digest: String?
  /// The hash in the metadata in hexadecimal digits: Apple's, or ours; nil when there is none.
  package var hash: String?

  /// Both of each entity, by name.
  static func all(_ model: NSManagedObjectModel?, _ hashes: [String: Data]) -> [InspectedDigest] {
    let digests = model?.entityDigestsByName ?? [:]
    return Set(digests.keys).union(hashes.keys).sorted().map { name in
      InspectedDigest(
        entity: name, digest: digests[name].map(hexadecimal), hash: hashes[name].map(hexadecimal))
    }
  }

  private static func hexadecimal(_ data: Data) -> String {
    data.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
