extension NSAttributeDescription {
  /// The type of an attribute, in Core Data's newer spelling of `NSAttributeType`.
  ///
  /// The raw values are the same.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The raw value of the `NSAttributeType`.
    public let rawValue: UInt

    /// Makes a type of a raw value of `NSAttributeType`.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Makes a type in the newer spelling.
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
    /// Any value that a value transformer turns into bytes.
    public static let transformable = AttributeType(.transformableAttributeType)
    /// The ID of a managed object, in results only.
    public static let objectID = AttributeType(.objectIDAttributeType)
    /// A group of named values.
    public static let composite = AttributeType(.compositeAttributeType)

    /// The same type as `NSAttributeType`; undefined for a raw value that has none.
    var attributeType: NSAttributeType {
      NSAttributeType(rawValue: rawValue) ?? .undefinedAttributeType
    }
  }

  /// The type of the values, in Core Data's newer spelling of `attributeType`.
  ///
  /// Setting a raw value that no type has makes the type undefined.
  public final var type: AttributeType {
    get { AttributeType(attributeType) }
    set { attributeType = newValue.attributeType }
  }
}
