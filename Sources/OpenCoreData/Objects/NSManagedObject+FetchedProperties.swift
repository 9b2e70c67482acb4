import ManagedModel

// Properties whose value is what a request finds.

extension NSManagedObject {
  /// What the request of a fetched property finds: in its order, fetched at the first reading and kept
  /// until the object becomes a fault or is refreshed.
  ///
  /// In the predicate `$FETCH_SOURCE` is this object and `$FETCHED_PROPERTY` the description, with key
  /// paths. Cost: that of the fetch, then nothing. An error leaves it empty, is said on standard error
  /// and kept by the context.
  final func fetchedObjects(of property: NSFetchedPropertyDescription) -> [Any] {
    willAccess()
    if let known = values?.fetched?[property.name] { return known }
    guard let context, let request = property.fetchRequest else { return [] }
    request.predicate = request.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": self, "FETCHED_PROPERTY": property,
    ])
    do {
      let found = try context.fetch(request)
      storage.fetched = (values?.fetched ?? [:]).merging([property.name: found]) { $1 }
      return found
    } catch {
      context.noteFailure(error, "'\(property.name)' of \(objectID) could not be fetched")
      return []
    }
  }
}
