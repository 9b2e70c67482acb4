/// Describes an attribute: a property that holds a value.
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
  /// Any number fits a numeric attribute; numbers, Booleans, and decimals are returned as `NSNumber`,
  /// which casts to any Swift number type that holds the value. The framework reads
  /// `typedDefaultValue`, which has the Swift type that belongs to `attributeType`.
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
  /// It follows from the type unless set, which only a transformable attribute needs.
  public final var attributeValueClassName: String? {
    get { explicitValueClassName ?? attributeType.valueClassName }
    set { explicitValueClassName = newValue }
  }

  /// The class name of the values where one was set.
  package final var explicitValueClassName: String? { willSet { requireMutable() } }

  /// The name of the value transformer of a transformable attribute.
  public final var valueTransformerName: String? { willSet { requireMutable() } }

  /// Whether large values may be kept in files beside the store.
  public final var allowsExternalBinaryDataStorage = false { willSet { requireMutable() } }

  /// Whether the history of the store keeps the value of a deleted object.
  public final var preservesValueInHistoryOnDeletion = false { willSet { requireMutable() } }

  /// Whether the value is encrypted in the cloud.
  ///
  /// Kept, without effect here.
  public final var allowsCloudEncryption = false { willSet { requireMutable() } }

  /// Whether generated code declares the value as a plain number.
  ///
  /// True at first, as in Xcode.
  package final var usesScalarValueType = true { willSet { requireMutable() } }

  private final var typedDefault: DefaultValue?

  /// The default value in the Swift type that belongs to `attributeType`, or nil.
  ///
  /// It is nil too when the value does not fit the type, which the model's `validate()` reports.
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
