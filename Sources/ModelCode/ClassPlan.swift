import ManagedModel

/// A class to generate: its entity, its superclass, and the properties that it declares.
struct ClassPlan {
  let name: String
  /// The class name in the model, including its module if it has one.
  let registeredName: String
  let entity: NSEntityDescription
  /// The class of the nearest ancestor with its own class, or `nil` for `NSManagedObject`.
  let parent: String?
  let properties: [PropertyPlan]

  /// The properties that have a slot in the row.
  var slots: [PropertyPlan] {
    properties.filter { $0.slot != nil }
      .sorted { ($0.slot?.index ?? 0) < ($1.slot?.index ?? 0) }
  }
}
