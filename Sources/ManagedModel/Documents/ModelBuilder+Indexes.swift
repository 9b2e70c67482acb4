extension ModelBuilder {
  /// Adds the indexes and uniqueness constraints of an entity.
  func addIndexes(to entity: NSEntityDescription, from element: DocumentElement) {
    entity.indexes = element.children(named: "fetchIndex").compactMap {
      fetchIndex($0, of: entity)
    }
    entity.compoundIndexes = groups(
      element, of: entity, list: "compoundIndexes", group: "compoundIndex", part: "index",
      place: "compound index")
    entity.uniquenessConstraints = groups(
      element, of: entity, list: "uniquenessConstraints", group: "uniquenessConstraint",
      part: "constraint", place: "uniqueness constraint")
  }

  private func groups(
    _ element: DocumentElement, of entity: NSEntityDescription, list: String, group: String,
    part: String, place: String
  ) -> [[String]] {
    element.children(named: list).flatMap { $0.children(named: group) }.map { group in
      group.children(named: part).compactMap { part in
        let reader = reader(part, entity)
        guard let name = reader.wanted("value") else { return nil }
        _ = property(named: name, of: entity, reader, at: "value", place: place)
        return name
      }
    }
  }

  private func property(
    named name: String, of entity: NSEntityDescription, _ reader: ElementReader,
    at attribute: String, place: String
  ) -> NSPropertyDescription? {
    if let property = entity.propertiesByName[name] { return property }
    reader.warn(
      "The \(place) names \(name), which the entity does not have.",
      reader.suggestion(
        for: name, among: entity.propertiesByName.keys,
        otherwise: "Add the property or take the name out."),
      at: attribute)
    return nil
  }

  private func fetchIndex(
    _ element: DocumentElement, of entity: NSEntityDescription
  ) -> NSFetchIndexDescription? {
    let reader = reader(element, entity)
    guard let name = reader.wanted("name") else { return nil }
    let index = NSFetchIndexDescription(
      name: name,
      elements: element.children(named: "fetchIndexElement").compactMap {
        indexElement($0, of: entity, index: name)
      })
    if let format = reader.text("partialIndexPredicate") {
      do {
        index.partialIndexPredicate = try NSPredicate.parse(format, arguments: [])
      } catch {
        reader.warn(
          "The predicate \"\(format)\" cannot be read: \(error.message) (character \(error.column)).",
          error.suggestion.map { "Did you mean \($0)?" } ?? "Write a whole predicate, or none.",
          at: "partialIndexPredicate")
        index.unreadTexts = element.unread
      }
    }
    return index
  }

  private func indexElement(
    _ element: DocumentElement, of entity: NSEntityDescription, index: String
  ) -> NSFetchIndexElementDescription? {
    let reader = reader(element, entity)
    let indexed: NSPropertyDescription
    let path = reader.text("property").flatMap { entity.hasCompositeElement(at: $0) ? $0 : nil }
    if let text = path ?? (reader.text("property") == nil ? reader.text("expression") : nil) {
      guard let computed = computed(text, reader) else { return nil }
      indexed = computed
    } else {
      guard let name = reader.wanted("property") else { return nil }
      indexed =
        property(named: name, of: entity, reader, at: "property", place: "index \(index)")
        ?? NSExpressionDescription(unknownProperty: name)
    }
    let type = reader.choice("type", NSFetchIndexElementType.allCases) {
      $0 == .rTree ? "RTree" : "Binary"
    }
    let description = NSFetchIndexElementDescription(
      property: indexed, collationType: type ?? .binary)
    description.isAscending =
      reader.choice("order", [true, false]) { $0 ? "ascending" : "descending" } ?? true
    return description
  }

  /// What an index over an expression covers; its name is the expression.
  private func computed(_ text: String, _ reader: ElementReader) -> NSExpressionDescription? {
    guard let expression = expression(text, reader, at: "expression") else { return nil }
    let description = NSExpressionDescription()
    description.name = expression.description
    description.expression = expression
    description.expressionResultType =
      reader.choice("expressionType", NSAttributeType.allCases, name: \.documentName)
      ?? .undefinedAttributeType
    return description
  }

  /// Adds the configurations of the model.
  func addConfigurations(of root: DocumentElement) {
    for element in root.children(named: "configuration") {
      guard let name = reader(element).wanted("name") else { continue }
      let members = element.children(named: "memberEntity").compactMap { member in
        let reader = reader(member)
        return reader.wanted("name").flatMap { entity(named: $0, for: reader, at: "name") }
      }
      model.setEntities(members, forConfigurationName: name)
    }
  }

  /// The stored fetch request that an element describes.
  func fetchRequest(_ element: DocumentElement) -> FetchRequestTemplate? {
    let reader = reader(element)
    guard let name = reader.wanted("name"), let entityName = reader.wanted("entity") else {
      return nil
    }
    _ = entity(named: entityName, for: reader, at: "entity")
    var request = FetchRequestTemplate(
      name: name, entityName: entityName, predicateFormat: reader.text("predicateString"))
    request.fetchLimit = reader.count("fetchLimit") ?? 0
    request.fetchBatchSize = reader.count("fetchBatchSize") ?? 0
    request.resultType = UInt(reader.count("resultType") ?? 0)
    request.includesSubentities = reader.flag("includeSubentities", otherwise: true)
    request.includesPropertyValues = reader.flag("includePropertyValues", otherwise: true)
    request.includesPendingChanges = reader.flag("includesPendingChanges", otherwise: true)
    request.returnsObjectsAsFaults = reader.flag("returnObjectsAsFaults", otherwise: true)
    request.returnsDistinctResults = reader.flag("returnDistinctResults")
    return request
  }
}
