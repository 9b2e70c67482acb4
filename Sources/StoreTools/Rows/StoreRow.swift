import OpenCoreData

/// One row, with its values in a form that can be printed.
package struct StoreRow: Sendable {
  /// The object's URI.
  package let id: String
  /// The entity of the very row, which may be a sub-entity of the one that was asked for.
  package let entity: String
  /// The stored properties by name, inherited ones included, in alphabetical order.
  package let values: [(name: String, value: RowText)]

  /// Reads an object, firing it and its to-many relationships.
  ///
  /// On the context's queue.
  init(_ object: NSManagedObject) {
    id = object.objectID.uriRepresentation().absoluteString
    entity = object.entity.name ?? ""
    values = object.entity.propertiesByName.values
      .filter {
        !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
      }
      .sorted { $0.name < $1.name }
      .map { property in
        let value = object.storedValue(forKey: property.name)
        if let relationship = property as? NSRelationshipDescription {
          return (property.name, RowText(value, of: relationship))
        }
        return (property.name, RowText(value))
      }
  }
}
