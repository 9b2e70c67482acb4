/// Creates a model from the elements of a document.
///
/// It continues after an error, so all errors of a file are reported at once. Problems that editors
/// mark and compilers accept are warnings: the element is read as far as possible and written back
/// unchanged. Only ambiguities are errors.
final class ModelBuilder {
  let errors: ErrorList
  let model = NSManagedObjectModel()
  /// The entities with the elements that describe them, in the order of the document.
  var entities: [(entity: NSEntityDescription, element: DocumentElement)] = []
  /// The relationships with the elements that describe them.
  var relationships: [(relationship: NSRelationshipDescription, element: DocumentElement)] = []
  var entitiesByName: [String: NSEntityDescription] = [:]
  /// The composites that the document declares for several attributes.
  private(set) var composites: [DocumentElement] = []
  /// The composites being read, to detect one that contains itself.
  var openComposites: Set<ObjectIdentifier> = []
  /// The number of elements of composites read so far.
  var compositeElements = 0
  /// The number of bytes of the predicates and expressions that were parsed so far.
  var formatBytes = 0
  var propertyElements: [ObjectIdentifier: DocumentElement] = [:]

  /// Creates a builder for a document.
  init(text: DocumentText) {
    errors = ErrorList(text: text)
  }

  /// Builds the model.
  ///
  /// - Throws: All errors of the document.
  func build(_ root: DocumentElement) throws(ModelErrors) -> NSManagedObjectModel {
    let model = try buildWithProblems(root)
    if errors.hasErrors { throw ModelErrors(errors.sorted) }
    return model
  }

  /// Builds the model as far as possible and collects problems in `errors`.
  ///
  /// - Throws: An error if the document isn't a model.
  func buildWithProblems(
    _ root: DocumentElement
  ) throws(ModelErrors) -> NSManagedObjectModel {
    guard root.name == "model" else {
      errors.add(
        ModelError(
          "The root element is \"\(root.name)\", not a model.",
          nextStep: Self.nextStep(forDocumentAbout: root.name)), at: root)
      throw ModelErrors(errors.sorted)
    }
    if let identifier = root.attributes["userDefinedModelVersionIdentifier"] {
      model.versionIdentifiers = [identifier]
    }
    composites = root.children.filter { $0.name.hasPrefix("composite") }
    addEntities(of: root)
    linkParents()
    model.entities = entities.map(\.entity)
    for (entity, element) in entitiesByDepth() { addProperties(to: entity, from: element) }
    linkInverses()
    for (entity, element) in entities { addIndexes(to: entity, from: element) }
    addConfigurations(of: root)
    addFetchRequests(of: root)
    addModelChecks()
    keepUnreadTexts()
    model.readerWarnings = errors.sorted.filter(\.isWarning)
    return model
  }

  private static func nextStep(forDocumentAbout name: String) -> String {
    switch name {
    case "plist":
      "Property-list models from Xcode 3 can't be read. Save the model with a newer Xcode, or "
        + "specify the compiled model."
    case "database": "This is an XML store. Specify the model that it was created with."
    default: "Specify the contents file of a .xcdatamodel folder."
    }
  }

  /// Returns a reader of an element that belongs to an entity or a property.
  func reader(
    _ element: DocumentElement, _ entity: NSEntityDescription? = nil, property: String? = nil
  ) -> ElementReader {
    ElementReader(element: element, entity: entity?.name, property: property, errors: errors)
  }

  private func addEntities(of root: DocumentElement) {
    let elements = root.children(named: "entity")
    if elements.count > ModelLimits.entities {
      reader(root).report("The model has more than \(ModelLimits.entities) entities.", nil)
    }
    for element in elements.prefix(ModelLimits.entities) {
      let entity = NSEntityDescription()
      guard let name = reader(element).required("name") else { continue }
      entity.name = name
      guard entitiesByName[name] == nil else {
        reader(element, entity).report(
          "There are two entities named \(name).", "Rename one of them.", at: "name")
        continue
      }
      entitiesByName[name] = entity
      let reader = reader(element, entity)
      entity.managedObjectClassName = reader.text("representedClassName") ?? "NSManagedObject"
      entity.isAbstract = reader.flag("isAbstract")
      entity.codeGenerationType =
        reader.choice("codeGenerationType", ["class", "category"]) { $0 }
      entity.isSyncable = reader.flag("syncable", otherwise: true)
      entity.explicitRenamingIdentifier = reader.text("elementID")
      entity.versionHashModifier = reader.text("versionHashModifier")
      entity.coreSpotlightDisplayNameExpression =
        reader.text("coreSpotlightDisplayNameExpression").flatMap {
          expression($0, reader, at: "coreSpotlightDisplayNameExpression")
        }
      entity.userInfo = userInfo(of: element)
      entities.append((entity, element))
    }
  }

  private func linkParents() {
    var hierarchy = EntityHierarchy()
    for (entity, element) in entities {
      let reader = reader(element, entity)
      guard let name = reader.text("parentEntity") else { continue }
      guard let parent = self.entity(named: name, for: reader, at: "parentEntity") else { continue }
      hierarchy.put(entity, below: parent)
    }
    let refused = Set(hierarchy.link().map { ObjectIdentifier($0) })
    for (entity, element) in entities where refused.contains(ObjectIdentifier(entity)) {
      reader(element, entity).report(
        "The parent entities form a cycle, or are more than \(ModelLimits.ancestors).",
        "Choose another parent.", at: "parentEntity")
    }
  }

  /// Returns the entity that an attribute names.
  ///
  /// An unknown name adds a warning.
  func entity(
    named name: String, for reader: ElementReader, at attribute: String
  ) -> NSEntityDescription? {
    if let entity = entitiesByName[name] { return entity }
    reader.warn(
      "There's no entity \(name).",
      reader.suggestion(
        for: name, among: entitiesByName.keys, otherwise: "Add the entity, or specify another one."),
      at: attribute)
    return nil
  }

  /// Returns the `userInfo` of an element, or `nil` if it has none.
  func userInfo(of element: DocumentElement) -> [AnyHashable: Any]? {
    let entries = element.children(named: "userInfo").flatMap { $0.children(named: "entry") }
    guard !entries.isEmpty else { return nil }
    var info: [AnyHashable: Any] = [:]
    for entry in entries {
      guard let key = entry.attributes["key"] else { continue }
      info[key] = entry.attributes["value"] ?? ""
    }
    return info
  }

  /// Returns the entities, with superentities before their subentities.
  ///
  /// Returns none, and adds an error, if the model has too many properties.
  private func entitiesByDepth() -> [(entity: NSEntityDescription, element: DocumentElement)] {
    var counts: [ObjectIdentifier: Int] = [:]
    var total = 0
    let sorted = entities.map { ($0, $0.entity.lookups.lineage.count) }.sorted { $0.1 < $1.1 }
    for ((entity, element), _) in sorted {
      let inherited = entity.superentity.flatMap { counts[ObjectIdentifier($0)] } ?? 0
      counts[ObjectIdentifier(entity)] = inherited + element.children.count
      total += inherited + element.children.count
      if total > ModelLimits.properties {
        reader(element, entity).report(
          "The model has more than \(ModelLimits.properties) properties.", nil)
        return []
      }
    }
    return sorted.map(\.0)
  }

  /// Sets the text of unreadable attributes on their entities and properties.
  private func keepUnreadTexts() {
    for (entity, element) in entities {
      entity.unreadTexts = element.unread
      for property in entity.ownProperties {
        guard let element = propertyElements[ObjectIdentifier(property)] else { continue }
        property.unreadTexts = element.unread
      }
    }
  }

  /// Adds problems that only the check of the entire model finds.
  private func addModelChecks() {
    let found = model.validate()
    let names = Set(found.compactMap(\.entity))
    var homes: [String: DocumentElement] = [:]
    var elements: [String: [String: DocumentElement]] = [:]
    for (entity, element) in entities {
      guard let name = entity.name, names.contains(name), homes[name] == nil else { continue }
      homes[name] = element
      for property in entity.ownProperties {
        elements[name, default: [:]][property.name] = propertyElements[ObjectIdentifier(property)]
      }
    }
    for error in found where !errors.covers(error) {
      guard let name = error.entity, let home = homes[name] else { continue }
      let element = error.property.flatMap { elements[name]?[$0] }
      errors.add(error, at: element ?? home, attribute: "name")
    }
  }
}

extension ModelBuilder {
  /// Adds the indexes and uniqueness constraints of an entity.
  func addIndexes(to entity: NSEntityDescription, from element: DocumentElement) {
    entity.indexes = element.children(named: "fetchIndex").compactMap {
      fetchIndex($0, of: entity)
    }
    entity.compoundIndexes = groups(
      element, of: entity, list: "compoundIndexes", group: "compoundIndex", part: "index",
      subject: "compound index")
    entity.uniquenessConstraints = groups(
      element, of: entity, list: "uniquenessConstraints", group: "uniquenessConstraint",
      part: "constraint", subject: "uniqueness constraint")
  }

  private func groups(
    _ element: DocumentElement, of entity: NSEntityDescription, list: String, group: String,
    part: String, subject: String
  ) -> [[String]] {
    element.children(named: list).flatMap { $0.children(named: group) }.map { group in
      group.children(named: part).compactMap { part in
        let reader = reader(part, entity)
        guard let name = reader.wanted("value") else { return nil }
        if !entity.hasCompositeElement(at: name) {
          _ = property(named: name, of: entity, reader, at: "value", subject: subject)
        }
        return name
      }
    }
  }

  private func property(
    named name: String, of entity: NSEntityDescription, _ reader: ElementReader,
    at attribute: String, subject: String
  ) -> NSPropertyDescription? {
    if let property = entity.propertiesByName[name] { return property }
    reader.warn(
      "The \(subject) names \(name), which the entity doesn't have.",
      reader.suggestion(
        for: name, among: entity.propertiesByName.keys,
        otherwise: "Add the property, or remove its name."),
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
    if let format = reader.text("partialIndexPredicate"), mayParse(format, reader) {
      do {
        index.partialIndexPredicate = try NSPredicate.parse(format, arguments: [])
      } catch {
        reader.warn(
          "The predicate \"\(format)\" can't be read: \(error.message) (character \(error.column)).",
          error.suggestion.map { "Did you mean \($0)?" }
            ?? "Write a complete predicate, or remove it.",
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
        property(named: name, of: entity, reader, at: "property", subject: "index \(index)")
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

  /// Returns the expression that an element of an index covers; its name is the expression.
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

  /// Adds the configurations of the model; those of the same name become one.
  func addConfigurations(of root: DocumentElement) {
    var members: [String: [NSEntityDescription]] = [:]
    var seen: [String: Set<ObjectIdentifier>] = [:]
    for element in root.children(named: "configuration") {
      guard let name = reader(element).wanted("name") else { continue }
      if members[name] != nil {
        reader(element).warn(
          "There are two configurations named \(name), which are read as one.",
          "Rename one of them.", at: "name")
      }
      members[name] = members[name] ?? []
      for member in element.children(named: "memberEntity") {
        let reader = reader(member)
        guard let title = reader.wanted("name"),
          let found = entity(named: title, for: reader, at: "name"),
          seen[name, default: []].insert(ObjectIdentifier(found)).inserted
        else { continue }
        members[name, default: []].append(found)
      }
    }
    for (name, entities) in members { model.setEntities(entities, forConfigurationName: name) }
  }

  /// Adds the fetch request templates of the model; of those with the same name, the first.
  func addFetchRequests(of root: DocumentElement) {
    var templates: [FetchRequestTemplate] = []
    var names: Set<String> = []
    for element in root.children(named: "fetchRequest") {
      guard let request = fetchRequest(element) else { continue }
      guard names.insert(request.name).inserted else {
        reader(element).warn(
          "There are two fetch requests named \(request.name); the first one is used.",
          "Rename one of them.", at: "name")
        continue
      }
      templates.append(request)
    }
    model.fetchRequestTemplates = templates
  }

  /// Returns the fetch request template that an element describes.
  func fetchRequest(_ element: DocumentElement) -> FetchRequestTemplate? {
    let reader = reader(element)
    guard let name = reader.wanted("name"), let entityName = reader.wanted("entity") else {
      return nil
    }
    _ = entity(named: entityName, for: reader, at: "entity")
    // It's parsed when it's used.
    let format = reader.text("predicateString").flatMap { mayParse($0, reader) ? $0 : nil }
    var request = FetchRequestTemplate(
      name: name, entityName: entityName, predicateFormat: format)
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
