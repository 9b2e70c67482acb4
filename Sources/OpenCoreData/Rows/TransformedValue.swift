import ManagedModel

/// A value that was set to a transformable attribute, encoded when its bytes are first asked for.
final class TransformedValue {
  let value: Any
  private let transformer: AttributeTransformer
  private let isExternal: Bool
  private let replaced: ReplacedValue?
  private var encoded: RowValue?

  /// - Parameters:
  ///   - isExternal: Whether the bytes may be in a file and state whether they are.
  ///   - replaced: The persisted value, if it was decoded before this one was set.
  init(
    _ value: Any, by transformer: AttributeTransformer, isExternal: Bool,
    replacing replaced: ReplacedValue? = nil
  ) {
    self.value = value
    self.transformer = transformer
    self.isExternal = isExternal
    self.replaced = replaced
  }

  /// The bytes that are saved; null when the transformer makes none of the value.
  var rawValue: RowValue {
    if let encoded { return encoded }
    let made = transformer.rawValue(of: value, isExternal: isExternal)
    encoded = made
    return made
  }

  /// The persisted value that this one replaced, if it is that of `row`.
  func replacedValue(of row: Row) -> ReplacedValue? {
    guard let replaced, replaced.row.base == row.base else { return nil }
    return replaced
  }
}

/// A row's value of a transformable attribute as it was decoded before another one was set.
///
/// Retains the row, so that no other row gets its address.
final class ReplacedValue {
  let value: Any?
  fileprivate let row: Row

  init(_ value: Any?, of row: Row) {
    row.retain()
    self.value = value
    self.row = row
  }

  deinit {
    row.release()
  }
}
