import OpenCoreData

import class ManagedModel.NSAttributeDescription

/// Converts the values of a transformable attribute to bytes and back, in the same way as the
/// framework's stores.
struct TransformableCoder {
  private let transformer: ValueTransformer
  /// Whether the transformer's forward direction reads bytes.
  private let readsBytes: Bool
  /// Whether the attribute names no transformer: data that isn't an archive is stored unchanged.
  private let isDefault: Bool

  /// Creates the coder of an attribute; nil if its values are data, because its transformer isn't
  /// registered.
  init?(_ attribute: NSAttributeDescription) {
    guard attribute.attributeType == .transformableAttributeType else { return nil }
    isDefault = attribute.valueTransformerName == nil
    let name =
      attribute.valueTransformerName.map { NSValueTransformerName($0) }
      ?? .keyedUnarchiveFromDataTransformerName
    guard let transformer = ValueTransformer(forName: name),
      type(of: transformer).allowsReverseTransformation()
    else { return nil }
    self.transformer = transformer
    readsBytes = transformer is NSSecureUnarchiveFromDataTransformer
  }

  /// Returns the bytes of a value; nil if the transformer returns none.
  func data(_ value: Any) -> Data? {
    if isDefault, let data = value as? Data, transformer.transformedValue(data) == nil {
      return data
    }
    let data =
      readsBytes
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    return data as? Data
  }

  /// Returns the value of bytes; nil if they have none.
  func value(_ data: Data) -> Any? {
    let value =
      readsBytes ? transformer.transformedValue(data) : transformer.reverseTransformedValue(data)
    return isDefault ? value ?? data : value
  }
}
