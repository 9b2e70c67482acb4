import ManagedModel

/// The transformer of one attribute, with its direction.
struct AttributeTransformer {
  private let transformer: ValueTransformer
  /// Whether it transforms from bytes.
  private let readsBytes: Bool
  /// Whether the attribute names no transformer: bytes that aren't an archive are values too.
  private let isDefault: Bool

  /// Creates the transformer that an attribute names, or `NSKeyedUnarchiveFromData` if it names
  /// none.
  ///
  /// `nil` for a transformer that isn't registered: the attribute's values are bytes then.
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

  /// Returns the bytes of a value; `nil` if the transformer returns none.
  func encode(_ value: Any) -> Data? {
    if let bytes = unchangedBytes(of: value) { return bytes }
    let made =
      readsBytes
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    return made.flatMap { Data(value: $0) }
  }

  /// Returns the bytes with which SQL can find a value; `nil` for a value that's archived: two
  /// archives of one value needn't be equal.
  func fixedBytes(of value: Any) -> Data? {
    readsBytes ? unchangedBytes(of: value) : encode(value)
  }

  /// Returns bytes that are stored as they are; `nil` for another value.
  private func unchangedBytes(of value: Any) -> Data? {
    // Bytes that could be mistaken for an archive are archived themselves.
    guard isDefault, let bytes = Data(value: value), ArchiveCheck(bytes) == nil else { return nil }
    return bytes
  }

  /// Returns the value of some bytes; `nil` if they have none.
  func decode(_ bytes: Data) -> Any? {
    let value =
      readsBytes ? transformer.transformedValue(bytes) : transformer.reverseTransformedValue(bytes)
    return isDefault ? value ?? bytes : value
  }

  /// Returns a value as rows store it; null if the transformer can't encode it.
  ///
  /// - Parameter isExternal: Whether the bytes can be in external storage and begin with a marker.
  func rawValue(of value: Any, isExternal: Bool) -> RowValue {
    guard let made = encode(value) else { return .null }
    return .bytes(isExternal ? ExternalStorage.inRow(made) : made)
  }

  /// Returns whether two raw values of a slot are the same bytes, or bytes of equal values.
  func areEqual(_ first: RowValue, _ second: RowValue, _ kind: RowSlot.Kind) -> Bool {
    if first == second { return true }
    guard let first = first.value(kind) as? Data, let second = second.value(kind) as? Data,
      let one = decode(first), let other = decode(second)
    else { return false }
    return AttributeTransformer.areEqual(one, other)
  }
}

extension AttributeTransformer {
  /// Returns whether two values of a transformable attribute are equal; two archives of one value
  /// needn't be.
  ///
  /// Collections are compared element by element, even an Objective-C collection with its Swift
  /// counterpart; an object that isn't `Equatable` equals only itself; a value of another type that
  /// isn't `Equatable` equals one that consists of equal parts. Strings are compared bytewise,
  /// integers and decimals exactly. NaN equals NaN.
  static func areEqual(_ first: Any?, _ second: Any?) -> Bool {
    guard let first, let second else { return first == nil && second == nil }
    if type(of: first) is AnyClass, type(of: second) is AnyClass,
      first as AnyObject === second as AnyObject
    {
      return true
    }
    // Canonically equal strings can have different bytes.
    if let first = first as? String, let second = second as? String {
      return first.hasSameBytes(as: second)
    }
    if let first = first as? [String], let second = second as? [String] {
      return first.count == second.count
        && zip(first, second).allSatisfy { $0.hasSameBytes(as: $1) }
    }
    if let known = first as? any Equatable, isEqual(known, second) { return true }
    if let first = first as? [Any] {
      guard let second = second as? [Any], first.count == second.count else { return false }
      return zip(first, second).allSatisfy { areEqual($0, $1) }
    }
    if let first = first as? [AnyHashable: Any] {
      guard let second = second as? [AnyHashable: Any], first.count == second.count else {
        return false
      }
      return first.allSatisfy { key, value in second[key].map { areEqual(value, $0) } ?? false }
    }
    if let first = first as? Set<AnyHashable> { return first == second as? Set<AnyHashable> }
    let (one, other) = (PredicateValue(first), PredicateValue(second))
    if one.isNumber, other.isNumber {
      return one == other || one.isNotANumber && other.isNotANumber
    }
    return haveEqualParts(first, second)
  }

  private static func isEqual<T: Equatable>(_ first: T, _ second: Any) -> Bool {
    if let second = second as? T { return first == second }
    guard let first = first as? AnyHashable, let second = second as? AnyHashable else {
      return false
    }
    return first == second
  }

  /// Compares values of one type that isn't `Equatable` part by part.
  private static func haveEqualParts(_ first: Any, _ second: Any) -> Bool {
    guard type(of: first) == type(of: second), !(first is any Equatable),
      !(type(of: first) is AnyClass)
    else { return false }
    let (parts, others) = (Mirror(reflecting: first), Mirror(reflecting: second))
    guard parts.children.count == others.children.count else { return false }
    if parts.children.isEmpty { return String(reflecting: first) == String(reflecting: second) }
    return zip(parts.children, others.children).allSatisfy { part, other in
      part.label == other.label && areEqual(part.value, other.value)
    }
  }
}

/// A value that was set to a transformable attribute, encoded when its bytes are first needed.
final class TransformedValue {
  let value: Any
  private let transformer: AttributeTransformer
  private let isExternal: Bool
  private let replaced: ReplacedValue?
  private var encoded: RowValue?

  /// - Parameters:
  ///   - isExternal: Whether the bytes can be in external storage and begin with a marker.
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

  /// The bytes to save; null if the transformer can't encode the value.
  var rawValue: RowValue {
    if let encoded { return encoded }
    let made = transformer.rawValue(of: value, isExternal: isExternal)
    encoded = made
    return made
  }

  /// Returns the persisted value that this one replaced, if it's that of `row`.
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
