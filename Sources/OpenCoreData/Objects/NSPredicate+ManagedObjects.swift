import ManagedModel

extension NSPredicate {
  /// Whether the object satisfies the predicate.
  ///
  /// What `evaluate(with:)` with any value does, without a look at what the value is. Cost: the
  /// faults of the properties it reads.
  public func evaluate(with object: NSManagedObject) -> Bool {
    if case .subclass = kind { return evaluate(with: object as Any?) }
    do {
      return try evaluation(ofRecord: object)
    } catch {
      preconditionFailure(error.description)
    }
  }
}
