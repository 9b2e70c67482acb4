import ManagedModel

/// A property of a class to generate.
struct PropertyPlan {
  let property: NSPropertyDescription
  /// The name in Swift, without backticks.
  let name: String
  /// The type of the accessor.
  let type: SwiftType
  /// The index and offset of the property's slot, or `nil` if generated code doesn't read one.
  let slot: (index: Int, offset: Int)?
}
