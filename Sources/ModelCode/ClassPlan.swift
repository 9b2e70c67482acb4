import ManagedModel

/// One class to be written: its entity, its parent, the properties it declares.
struct ClassPlan {
  let name: String
  /// The class name in the model, with its module when it has one.
  let registeredName: String
  let entity: NSEntityDescription
  /// The class of the nearest parent that has one of its own; nil for `NSManagedObject`.
  let parent: String?
  let properties: [PropertyPlan]

  /// Those that have a place in the row.
  var slots: [PropertyPlan] {
    properties.filter { $0.slot != nil }
      .sorted { ($0.slot?.index ?? 0) < ($1.slot?.index ?? 0) }
  }
}
