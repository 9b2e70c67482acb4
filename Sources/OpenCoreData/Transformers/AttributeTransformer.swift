import ManagedModel

/// The transformer of one attribute, with its direction.
struct AttributeTransformer {
  private let transformer: ValueTransformer
  /// Whether bytes are what it transforms from.
  private let readsBytes: Bool

  /// The transformer that an attribute names; nil for none, or one that is not registered: its values
  /// are bytes.
  init?(_ attribute: NSAttributeDescription) {
    guard attribute.attributeType == .transformableAttributeType,
      let name = attribute.valueTransformerName,
      let found = ValueTransformer.registered(NSValueTransformerName(name)),
      type(of: found).allowsReverseTransformation()
    else { return nil }
    transformer = found
    readsBytes = found is NSSecureUnarchiveFromDataTransformer
  }

  /// The bytes of a value; nil when the transformer makes none.
  func encode(_ value: Any) -> Data? {
    let made =
      readsBytes
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    return made as? Data
  }

  /// The value of some bytes; nil when they make none.
  func decode(_ bytes: Data) -> Any? {
    readsBytes ? transformer.transformedValue(bytes) : transformer.reverseTransformedValue(bytes)
  }
}
