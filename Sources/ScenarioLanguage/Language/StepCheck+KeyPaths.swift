import OpenCoreData
import WorkbenchText

extension StepCheck {
  /// A key of `sort` must have one value that can be compared.
  func checkSortKey(
    _ key: SortKey, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    let path = try names.resolve(key.keyPath, from: entity, at: place)
    let endsToMany = (path.last as? NSRelationshipDescription)?.isToMany == true
    guard !path.passesToMany, !endsToMany else {
      throw LanguageProblem(
        "`\(key.keyPath)` has many values, so nothing can be sorted by it", at: place,
        nextStep: "sort by an attribute of the entity or of a to-one relationship")
    }
    if let relationship = path.last as? NSRelationshipDescription {
      let attributes = relationship.destinationEntity?.attributesByName.keys.sorted() ?? []
      throw LanguageProblem(
        "`\(key.keyPath)` leads to objects, which have no order", at: place,
        nextStep: "sort by one of: "
          + ModelNames.list(attributes.map { "\(key.keyPath).\($0)" }))
    }
  }

  /// What is prefetched must be relationships.
  func checkPrefetch(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: place).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute; its row brings it anyway", at: place,
        didYouMean: keyPath.lastIndex(of: ".").map { String(keyPath[..<$0]) },
        nextStep:
          "prefetch relationships: \(ModelNames.list(entity.relationshipsByName.keys.sorted()))")
    }
  }

  /// What is read must be properties; a path that ends in `@count` must lead to a to-many.
  func checkRead(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    guard let counted = Step.countedPath(keyPath) else {
      _ = try names.resolveRead(keyPath, from: entity, at: place)
      return
    }
    let last = try names.resolve(counted, from: entity, at: place).last
    guard (last as? NSRelationshipDescription)?.isToMany == true else {
      throw LanguageProblem(
        "`\(counted)` is no to-many relationship, so there is nothing to count", at: place,
        didYouMean: counted, nextStep: "write for example `moods.@count`")
    }
  }

  /// What a walk goes through must be relationships.
  func checkWalk(
    _ keyPath: String, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    guard try names.resolve(keyPath, from: entity, at: place).last is NSRelationshipDescription
    else {
      throw LanguageProblem(
        "`\(keyPath)` is an attribute, and there is nothing to go through", at: place,
        nextStep: "walk relationships, or read it with `touch`")
    }
  }

  /// The keys of an index must be columns of the entity's own table.
  func checkIndexKey(
    _ key: SortKey, on entity: NSEntityDescription, at place: SourcePlace
  ) throws(LanguageProblem) {
    let property = try names.property(key.keyPath, of: entity, at: place)
    let isToMany = (property as? NSRelationshipDescription)?.isToMany == true
    guard !isToMany, !property.isTransient, !(property is NSFetchedPropertyDescription) else {
      throw LanguageProblem(
        "`\(key.keyPath)` has no column in the table of `\(entity.name ?? "")`", at: place,
        nextStep: "index attributes and to-one relationships")
    }
  }
}
