import ManagedModel

/// What `mutableSetValue(forKey:)` gives: a set whose changes are the relationship's.
final class MutableRelationshipSet: NSMutableSet {
  private var owner: NSManagedObject?
  private var relationship: NSRelationshipDescription?

  /// The set of one relationship of one object, which it holds.
  static func make(
    _ owner: NSManagedObject, _ relationship: NSRelationshipDescription
  ) -> MutableRelationshipSet {
    let made = MutableRelationshipSet(capacity: 0)
    made.owner = owner
    made.relationship = relationship
    return made
  }

  private var objects: Set<NSManagedObject> {
    guard let owner, let relationship else { return [] }
    return Set(owner.relatedObjects(relationship))
  }

  override var count: Int { objects.count }

  override func member(_ object: Any) -> Any? {
    (object as? NSManagedObject).flatMap { objects.contains($0) ? $0 : nil }
  }

  override func objectEnumerator() -> NSEnumerator {
    NSArray(array: Array(objects)).objectEnumerator()
  }

  override func add(_ object: Any) {
    guard let owner, let relationship,
      let object = owner.checkedDestination(object, relationship)
    else { return }
    owner.addDestination(object, relationship)
  }

  override func remove(_ object: Any) {
    guard let owner, let relationship, let object = object as? NSManagedObject else { return }
    owner.removeDestination(object, relationship)
  }
}
