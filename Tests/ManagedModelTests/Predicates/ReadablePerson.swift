import ManagedModel

/// A substitute for a managed object: it's read by key and equals its ID.
final class ReadablePerson: KeyValueReadable, ManagedObjectReference, @unchecked Sendable {
  /// A substitute for an object ID.
  struct Identifier: Hashable, ManagedObjectReference {
    let number: Int
    var referenceIdentity: AnyHashable { self }
    var hasStableIdentity: Bool { true }
    var positionByID: UInt64 { UInt64(number) }
  }

  let identifier: Identifier
  let values: [String: Any?]
  private(set) var reads: [String] = []

  init(_ number: Int, _ values: [String: Any?] = [:]) {
    identifier = Identifier(number: number)
    self.values = values
  }

  var referenceIdentity: AnyHashable { identifier }
  var hasStableIdentity: Bool { true }
  var positionByID: UInt64 { identifier.positionByID }

  func value(forKey key: String) -> Any? {
    reads.append(key)
    return values[key] ?? nil
  }
}
