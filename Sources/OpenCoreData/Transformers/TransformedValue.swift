import ManagedModel

/// A value that was set to a transformable attribute, encoded when its bytes are first asked for.
final class TransformedValue {
  let value: Any
  private let transformer: AttributeTransformer
  private var encoded: RowValue?

  init(_ value: Any, by transformer: AttributeTransformer) {
    self.value = value
    self.transformer = transformer
  }

  /// The bytes that are saved; null when the transformer makes none of the value.
  var rawValue: RowValue {
    if let encoded { return encoded }
    let made = transformer.encode(value).map { RowValue.bytes($0) } ?? .null
    encoded = made
    return made
  }
}
