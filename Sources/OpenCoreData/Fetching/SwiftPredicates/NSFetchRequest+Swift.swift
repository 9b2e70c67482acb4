import ManagedModel

extension NSFetchRequest where ResultType: NSManagedObject {
  /// Sorts by Swift's own descriptors: `[SortDescriptor(\Mood.date, order: .reverse)]`.
  ///
  /// Their key paths become names when the request is executed; one that is no property of the
  /// entity is then an error. Texts are ordered by their bytes. Replaces `sortDescriptors`.
  public func setSortDescriptors(_ descriptors: [SortDescriptor<ResultType>]) {
    swiftSort = { entity in
      let names = SwiftKeyNames(entity)
      return try descriptors.map { descriptor in
        guard let keyPath = descriptor.keyPath else {
          throw NSError.fetch("A SortDescriptor without a key path cannot order a fetch.")
        }
        let name = try names.name(of: keyPath, in: ResultType.self)
        return NSSortDescriptor(key: name, ascending: descriptor.order == .forward)
      }
    }
  }

  /// Fetches what Swift's own predicate says: `request.setPredicate(#Predicate<Mood> { … })`.
  ///
  /// The same as setting `predicate` to an `NSPredicate` made of it.
  public func setPredicate(_ predicate: Foundation.Predicate<ResultType>) {
    self.predicate = NSPredicate(predicate)
  }
}
