import ManagedModel

/// A value that was set to a transformable attribute, encoded when its bytes are first asked for.
final class TransformedValue {
  let value: Any
  private let transformer: AttributeTransformer
  private let isExternal: Bool
  private var encoded: RowValue?

  /// - Parameter isExternal: Whether the bytes may be kept in a file and say whether they are.
  init(_ value: Any, by transformer: AttributeTransformer, isExternal: Bool) {
    self.value = value
    self.transformer = transformer
    self.isExternal = isExternal
  }

  /// The bytes that are saved; null when the transformer makes none of the value.
  var rawValue: RowValue {
    if let encoded { return encoded }
    let made = transformer.rawValue(of: value, isExternal: isExternal)
    encoded = made
    return made
  }
}
