/// Describes an attribute: a property with a value.
///
/// Counterpart: `NSAttributeDescription`.
public class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  /// The type of the values.
  public final var attributeType = NSAttributeType.undefinedAttributeType {
    willSet { requireMutable() }
    didSet { typedDefault = nil }
  }

  /// The value of a new object.
  ///
  /// Any number is valid for a numeric attribute; numbers, Booleans, and decimals are returned as
  /// `NSNumber`, which casts to any Swift number type that can represent the value. The framework
  /// reads `typedDefaultValue`, which has the Swift type that corresponds to `attributeType`.
  public final var defaultValue: Any? {
    get { givenDefault.map(DefaultValue.boxed) }
    set {
      requireMutable()
      givenDefault = newValue
      typedDefault = nil
    }
  }

  private final var givenDefault: Any?

  /// The name of the class of the values, such as `NSNumber`.
  ///
  /// The type determines it unless it's set, which only a transformable attribute needs.
  public final var attributeValueClassName: String? {
    get { explicitValueClassName ?? attributeType.valueClassName }
    set { explicitValueClassName = newValue }
  }

  /// The class name of the values, if one was set.
  package final var explicitValueClassName: String? { willSet { requireMutable() } }

  /// The name of the value transformer of a transformable attribute.
  public final var valueTransformerName: String? { willSet { requireMutable() } }

  /// Whether large values can be stored in external files.
  ///
  /// The value is part of the version hash: a store is migrated if external storage is turned on.
  /// If it's turned off, no mapping can be inferred, because values can be in files: add another
  /// attribute, and copy them in code.
  ///
  /// A fetch from a SQLite store can compare the attribute with `nil` and, for equality, with data
  /// of up to 100,000 bytes, but not otherwise, because SQL can't read the files.
  public final var allowsExternalBinaryDataStorage = false { willSet { requireMutable() } }

  /// Whether each stored value begins with a byte that states where it is, in a SQLite store.
  ///
  /// External storage has no effect on attributes of other types than binary and transformable.
  package final var hasExternalValues: Bool {
    allowsExternalBinaryDataStorage && hasBytes
  }

  /// Whether the attribute's values are stored as bytes, so that they can be in external storage.
  package final var hasBytes: Bool {
    !isTransient
      && (attributeType == .binaryDataAttributeType || attributeType == .transformableAttributeType)
  }

  /// Whether persistent history preserves the value of a deleted object.
  public final var preservesValueInHistoryOnDeletion = false { willSet { requireMutable() } }

  /// Whether the value is encrypted in the cloud.
  ///
  /// OpenCoreData stores this setting and doesn't use it.
  public final var allowsCloudEncryption = false { willSet { requireMutable() } }

  /// Whether generated code declares the value as a scalar type.
  ///
  /// The default is true, as in Xcode.
  package final var usesScalarValueType = true { willSet { requireMutable() } }

  private final var typedDefault: DefaultValue?

  /// The default value in the Swift type that corresponds to `attributeType`, or `nil`.
  ///
  /// It's also `nil` if the value doesn't match the type, which the model's `validate()` reports.
  package final var typedDefaultValue: Any? {
    if let typedDefault { return typedDefault.value }
    let value = givenDefault.flatMap { DefaultValue(converting: $0, to: attributeType)?.value }
    if !isFrozen { typedDefault = DefaultValue(value: value) }
    return value
  }

  override func freeze() {
    _ = typedDefaultValue
    super.freeze()
  }
}

extension NSAttributeDescription {
  /// The type of an attribute, in Core Data's newer spelling of `NSAttributeType`.
  ///
  /// The raw values are the same.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The raw value of the `NSAttributeType`.
    public let rawValue: UInt

    /// Creates a type from a raw value of `NSAttributeType`.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Creates a type from an `NSAttributeType`.
    public init(_ type: NSAttributeType) {
      self.init(rawValue: type.rawValue)
    }

    /// No type.
    public static let undefined = AttributeType(.undefinedAttributeType)
    /// `Int16`.
    public static let integer16 = AttributeType(.integer16AttributeType)
    /// `Int32`.
    public static let integer32 = AttributeType(.integer32AttributeType)
    /// `Int64`.
    public static let integer64 = AttributeType(.integer64AttributeType)
    /// `Decimal`.
    public static let decimal = AttributeType(.decimalAttributeType)
    /// `Double`.
    public static let double = AttributeType(.doubleAttributeType)
    /// `Float`.
    public static let float = AttributeType(.floatAttributeType)
    /// `String`.
    public static let string = AttributeType(.stringAttributeType)
    /// `Bool`.
    public static let boolean = AttributeType(.booleanAttributeType)
    /// `Date`.
    public static let date = AttributeType(.dateAttributeType)
    /// `Data`.
    public static let binaryData = AttributeType(.binaryDataAttributeType)
    /// `UUID`.
    public static let uuid = AttributeType(.UUIDAttributeType)
    /// `URL`.
    public static let uri = AttributeType(.URIAttributeType)
    /// Any value that a value transformer converts to bytes.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// A managed object ID, in results only.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// A group of named values.
    public static let composite = AttributeType(.compositeAttributeType)

    /// The type as an `NSAttributeType`; undefined for an unknown raw value.
    var attributeType: NSAttributeType {
      NSAttributeType(rawValue: rawValue) ?? .undefinedAttributeType
    }
  }

  /// The type of the values: the newer form of `attributeType`.
  ///
  /// Setting an unknown raw value makes the type undefined.
  public final var type: AttributeType {
    get { AttributeType(attributeType) }
    set { attributeType = newValue.attributeType }
  }
}

/// The type of an attribute's values, with Core Data's raw values.
///
/// The raw values are those found in compiled models. Counterpart: `NSAttributeType`.
public enum NSAttributeType: UInt, Sendable, CaseIterable {
  /// No type. Allowed for transient attributes only.
  case undefinedAttributeType = 0
  /// A 16-bit signed integer, `Int16`.
  case integer16AttributeType = 100
  /// A 32-bit signed integer, `Int32`.
  case integer32AttributeType = 200
  /// A 64-bit signed integer, `Int64`.
  case integer64AttributeType = 300
  /// A decimal number, `Decimal`.
  case decimalAttributeType = 400
  /// A 64-bit floating point number, `Double`.
  case doubleAttributeType = 500
  /// A 32-bit floating point number, `Float`.
  case floatAttributeType = 600
  /// A string, `String`.
  case stringAttributeType = 700
  /// A Boolean value, `Bool`.
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
  /// Any value that a value transformer converts to bytes.
  case transformableAttributeType = 1800
  /// A managed object ID. Used in results and never stored.
  case objectIDAttributeType = 2000
  /// A group of named values stored as one attribute.
  case compositeAttributeType = 2100
}

extension NSAttributeType {
  /// The name of the type in a model document, such as `Integer 16`.
  package var documentName: String {
    switch self {
    case .undefinedAttributeType: "Undefined"
    case .integer16AttributeType: "Integer 16"
    case .integer32AttributeType: "Integer 32"
    case .integer64AttributeType: "Integer 64"
    case .decimalAttributeType: "Decimal"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .stringAttributeType: "String"
    case .booleanAttributeType: "Boolean"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Binary"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URI"
    case .transformableAttributeType: "Transformable"
    case .objectIDAttributeType: "Object ID"
    case .compositeAttributeType: "Composite"
    }
  }

  /// The name of Core Data's class for the values, such as `NSNumber`.
  ///
  /// It's `nil` for types whose class the model must specify.
  package var valueClassName: String? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .doubleAttributeType, .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "NSString"
    case .dateAttributeType: "NSDate"
    case .binaryDataAttributeType: "NSData"
    case .UUIDAttributeType: "NSUUID"
    case .URIAttributeType: "NSURL"
    case .objectIDAttributeType: "NSManagedObjectID"
    case .compositeAttributeType: "NSDictionary"
    case .undefinedAttributeType, .transformableAttributeType: nil
    }
  }
}

/// Describes an attribute whose value the store computes from other properties.
///
/// In a SQLite store, it's a column that triggers update. Counterpart:
/// `NSDerivedAttributeDescription`.
public final class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The expression that the value is computed from.
  ///
  /// The expression is a key path over to-one relationships (`owner.name`); `@count` or `@sum` over
  /// a to-many relationship (`pages.@count`, `pages.@sum.words`, `pages.words.@sum`, or the
  /// functions `count:(pages)` and `sum:(pages.words)`); `canonical:`, `uppercase:`, or
  /// `lowercase:` of a string; or `now()`. With any other expression, the value stays `nil`, and
  /// the model's `validate()` reports it.
  public var derivationExpression: NSExpression? { willSet { requireMutable() } }
}

extension NSAttributeDescription {
  /// Whether the store computes the value.
  package final var isDerived: Bool { self is NSDerivedAttributeDescription }

  /// The derivation expression of a derived attribute as a string; `nil` for other attributes.
  ///
  /// It's empty if the model has none, or one that can't be parsed.
  package final var derivationText: String? {
    (self as? NSDerivedAttributeDescription).map { $0.derivationExpression?.description ?? "" }
  }
}

/// The formula of a derived attribute's value.
package enum DerivedFormula: Hashable, Sendable {
  /// Functions that change a string, by their names in the model.
  package enum Change: String, CaseIterable, Hashable, Sendable {
    /// Removes case and diacritics.
    case canonical
    case lowercase
    case uppercase
  }

  /// The attribute at the end of a path of to-one relationships, or of the object itself.
  case copy(path: [String], Change?)
  /// The number of objects in a to-many relationship.
  case count(relationship: String)
  /// The sum of a number over the objects of a to-many relationship.
  case sum(relationship: String, attribute: String)
  /// The time of the last save.
  case now

  /// Creates a formula from the text of a derivation expression.
  ///
  /// A collection operator can be first, last, or between the relationship and the attribute
  /// (`@sum.pages.words`, `pages.words.@sum`, `pages.@sum.words`), or a function
  /// (`sum:(pages.words)`, `count:(pages)`). A leading `self.` is ignored.
  ///
  /// - Returns: `nil` for other formulas.
  package init?(_ text: String) {
    // `#` precedes a key that is a reserved word.
    let formula = text.filter { !$0.isWhitespace && $0 != "#" }
    if ["now()", "now:()", "now"].contains(formula) {
      self = .now
      return
    }
    if let (function, argument) = Self.call(formula) {
      let path = Self.path(argument)
      guard Self.isPlain(path) else { return nil }
      switch (function, path.count) {
      case ("count", 1): self = .count(relationship: path[0])
      case ("sum", 2): self = .sum(relationship: path[0], attribute: path[1])
      default:
        guard let change = Change(rawValue: function) else { return nil }
        self = .copy(path: path, change)
      }
      return
    }
    var path = Self.path(formula[...])
    guard let position = path.firstIndex(where: { $0.hasPrefix("@") }) else {
      guard Self.isPlain(path) else { return nil }
      self = .copy(path: path, nil)
      return
    }
    let collectionOperator = path.remove(at: position)
    guard Self.isPlain(path) else { return nil }
    switch (collectionOperator, path.count) {
    case ("@count", 1) where position == 1: self = .count(relationship: path[0])
    case ("@sum", 2): self = .sum(relationship: path[0], attribute: path[1])
    default: return nil
    }
  }

  /// Returns the function and the argument of a call with one argument, `name:(argument)`.
  private static func call(_ text: String) -> (function: String, argument: Substring)? {
    guard text.hasSuffix(")"), let opening = text.firstIndex(of: "(") else { return nil }
    let name = text[..<opening]
    let argument = text[text.index(after: opening)...].dropLast()
    return (String(name.last == ":" ? name.dropLast() : name), argument)
  }

  private static func path(_ text: Substring) -> [String] {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return parts.count > 1 && parts[0].lowercased() == "self" ? Array(parts.dropFirst()) : parts
  }

  private static func isPlain(_ path: [String]) -> Bool {
    !path.isEmpty
      && path.allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      }
  }
}
