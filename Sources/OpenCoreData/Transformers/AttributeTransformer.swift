import ManagedModel

/// The transformer of one attribute, with its direction.
struct AttributeTransformer {
  private let transformer: ValueTransformer
  /// Whether bytes are what it transforms from.
  private let readsBytes: Bool
  /// Whether the attribute names no transformer: bytes that aren't an archive are values too.
  private let isDefault: Bool

  /// The transformer that an attribute names, or `NSKeyedUnarchiveFromData` if it names none.
  ///
  /// It's nil for a transformer that isn't registered: the attribute's values are bytes then.
  init?(_ attribute: NSAttributeDescription) {
    guard attribute.attributeType == .transformableAttributeType else { return nil }
    let name = attribute.valueTransformerName.map { NSValueTransformerName($0) }
    guard
      let found = ValueTransformer.registered(name ?? .keyedUnarchiveFromDataTransformerName),
      type(of: found).allowsReverseTransformation()
    else { return nil }
    transformer = found
    readsBytes = found is NSSecureUnarchiveFromDataTransformer
    isDefault = name == nil
  }

  /// The bytes of a value; nil when the transformer makes none.
  func encode(_ value: Any) -> Data? {
    // Bytes that an archive could be taken for are archived themselves.
    if isDefault, let bytes = value as? Data, ArchiveCheck(bytes) == nil { return bytes }
    let made =
      readsBytes
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    return made as? Data
  }

  /// The value of some bytes; nil when they make none.
  func decode(_ bytes: Data) -> Any? {
    let value =
      readsBytes ? transformer.transformedValue(bytes) : transformer.reverseTransformedValue(bytes)
    return isDefault ? value ?? bytes : value
  }

  /// A value as rows store it; null when the transformer makes no bytes of it.
  ///
  /// - Parameter isExternal: Whether the bytes can be in a file and begin with where they are.
  func rawValue(of value: Any, isExternal: Bool) -> RowValue {
    guard let made = encode(value) else { return .null }
    return .bytes(isExternal ? ExternalStorage.inRow(made) : made)
  }
}
