import ManagedModel

extension EntityLayout {
  /// The value of a composite attribute; nil when all its leaves are nil.
  ///
  /// - Parameter value: The value of a leaf's slot.
  func gathered(_ composite: Int, _ value: (RowSlot) -> Any?) -> [String: Any]? {
    composites[composite].gathered { path in slot(at: path).flatMap(value) }
  }

  /// The slots of a composite attribute's leaves with the values that a value of it gives them.
  ///
  /// - Throws: An error for a value that is none of the attribute.
  func spread(
    _ value: Any?, over composite: Int
  ) throws(CompositeValueError) -> [(slot: RowSlot, value: Any?)] {
    try composites[composite].spread(value).compactMap { leaf in
      slot(at: leaf.path).map { ($0, leaf.value) }
    }
  }

  /// Values by property, with each composite's leaves gathered under its name.
  ///
  /// - Parameter values: By slot; nil is `NSNull`, for a group too.
  func gatheringComposites(_ values: [String: Any]) -> [String: Any] {
    guard !composites.isEmpty else { return values }
    var result = values
    for composite in composites {
      for leaf in composite.leaves { result[leaf.name] = nil }
      let group = composite.gathered { path in values[path].flatMap { $0 is NSNull ? nil : $0 } }
      result[composite.name] = group ?? NSNull()
    }
    return result
  }

  /// The name of the property that a slot belongs to: for a leaf that of its composite attribute.
  func propertyName(_ slot: RowSlot) -> String {
    guard !composites.isEmpty, let point = slot.name.firstIndex(of: "."),
      case .composite? = place(of: String(slot.name[..<point]))
    else { return slot.name }
    return String(slot.name[..<point])
  }

  private func slot(at path: String) -> RowSlot? {
    guard case .slot(let index)? = place(of: path) else { return nil }
    return slots[index]
  }
}
