extension NSAttributeType {
  /// The name that a model document gives the type, such as `Integer 16`.
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

  /// The name of the class of the values in Apple's framework, such as `NSNumber`.
  ///
  /// It is nil for types whose class a model has to name itself.
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
