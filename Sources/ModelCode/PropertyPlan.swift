import ManagedModel

/// One property of a class as it is written.
struct PropertyPlan {
  let property: NSPropertyDescription
  /// As Swift says it, without backticks.
  let name: String
  /// What the accessor gives.
  let type: SwiftType
  /// The number and offset of its slot; nil when it has none that generated code reads.
  let slot: (index: Int, offset: Int)?
}
