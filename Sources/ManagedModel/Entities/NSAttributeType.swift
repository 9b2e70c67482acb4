/// The type of the values of an attribute, with Apple's raw values.
///
/// The raw values are those found in compiled models. Counterpart: `NSAttributeType`.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
  /// No type is given. Allowed for transient attributes only.
  case undefinedAttributeType = 0
  /// A 16-bit signed whole number, `Int16`.
  case integer16AttributeType = 100
  /// A 32-bit signed whole number, `Int32`.
  case integer32AttributeType = 200
  /// A 64-bit signed whole number, `Int64`.
  case integer64AttributeType = 300
  /// A decimal number, `Decimal`.
  case decimalAttributeType = 400
  /// A 64-bit floating point number, `Double`.
  case doubleAttributeType = 500
  /// A 32-bit floating point number, `Float`.
  case floatAttributeType = 600
  /// A text, `String`.
  case stringAttributeType = 700
  /// True or false, `Bool`.
  case booleanAttributeType = 800
  /// A point in time, `Date`.
  case dateAttributeType = 900
  /// Bytes, `Data`.
  case binaryDataAttributeType = 1000
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// A `UUID`.
  case UUIDAttributeType = 1100
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// A `URL`.
  case URIAttributeType = 1200
  /// Any value that a value transformer turns into bytes.
  case transformableAttributeType = 1800
  /// The identifier of a managed object. Used in results, never stored.
  case objectIDAttributeType = 2000
  /// A group of named values stored as one attribute.
  case compositeAttributeType = 2100
}
