/// Creates a model from a keyed archive.
///
/// The reader iterates over the list of entities and never follows references between objects, so
/// no archive can make it recurse.
final class ModelArchiveReader {
  let archive: KeyedArchive
  let model = NSManagedObjectModel()
  private var entities: [(entity: NSEntityDescription, object: KeyedArchive.Object)] = []
  private var entitiesByID: [UInt32: NSEntityDescription] = [:]
  var entitiesByName: [String: NSEntityDescription] = [:]
  /// The archived properties by UID, including the copies in subentities.
  var propertiesByID: [UInt32: NSPropertyDescription] = [:]
  var relationships: [(relationship: NSRelationshipDescription, object: KeyedArchive.Object)] = []

  /// The errors in parts of the model.
  ///
  /// Reading continues after each.
  var errors: [ModelError] = []

  /// The problems that don't make the model unusable.
  private var warnings: [ModelError] = []

  /// The names of the properties that couldn't be read, by entity, including those of its
  /// ancestors.
  var unread: [ObjectIdentifier: Set<String>] = [:]

  /// The number of properties read so far; inherited ones are counted in every entity.
  var propertyCount = 0

  /// The number of elements of composites that were read so far.
  var compositeElements = 0

  /// The number of bytes of the predicates and expressions that were parsed so far.
  private var formatBytes = 0

  /// Creates a reader for an archive.
  init(_ archive: KeyedArchive) {
    self.archive = archive
  }

  /// Reads the model.
  ///
  /// - Throws: All errors of the model.
  func read() throws(ModelErrors) -> NSManagedObjectModel {
    var model: NSManagedObjectModel?
    do {
      model = try readParts()
    } catch {
      errors.append(error)
    }
    guard errors.isEmpty, let model else {
      throw ModelErrors(Array((errors + warnings).prefix(ModelLimits.errors)))
    }
    model.readerWarnings = warnings
    return model
  }

  private func readParts() throws(ModelError) -> NSManagedObjectModel {
    let root = archive.root
    guard root.fields["NSEntities"] != nil else {
      throw ModelError(
        "The archive contains \(root.className), not a model.",
        nextStep: "Specify a model's .mom file.")
    }
    try addEntities(root)
    try linkParents()
    for (entity, object) in sortedByDepth() { try addProperties(to: entity, from: object) }
    for (relationship, object) in relationships { link(relationship, object) }
    for oneSided in OneSidedInverse.remove(from: relationships.map(\.relationship)) {
      warn(
        oneSided.message, oneSided.nextStep, of: oneSided.relationship.entity,
        property: oneSided.relationship.name)
    }
    for (entity, object) in entities { addIndexes(to: entity, from: object) }
    model.entities = entities.map(\.entity)
    model.versionIdentifiers = Set(
      archive.list(root.fields["NSVersionIdentifiers"]).compactMap {
        archive.anyValue($0) as? AnyHashable
      })
    model.fetchRequestTemplates = archive.list(root.fields[ArchiveKey.templates]).compactMap {
      template($0)
    }
    for (name, _) in archive.entries(root.fields["NSFetchRequestTemplates"]) {
      warn(
        "The fetch request template \(archive.string(name) ?? "") isn't read from a compiled model.",
        Self.document, of: nil)
    }
    addConfigurations(root)
    addRecorded(root)
    if archive.isExhausted { throw KeyedArchive.exhaustion }
    if !mayParse("") { throw ModelError(ModelError.longFormats) }
    return model
  }

  /// Counts a predicate or an expression that is to be parsed, and returns whether it may be.
  ///
  /// An archive can refer to one string many times.
  func mayParse(_ format: String) -> Bool {
    formatBytes += format.utf8.count
    return formatBytes <= ModelLimits.formats
  }

  /// Returns the expression in a string, or `nil` if it can't be parsed.
  func expression(_ format: String) -> NSExpression? {
    guard mayParse(format) else { return nil }
    return try? NSExpression.parse(format, arguments: [])
  }

  /// What to do about predicates that Core Data has archived, in a form that isn't public.
  private static let document = "Read the .xcdatamodeld instead."

  /// Adds values that a `.mom` file doesn't contain: localized names and Core Data's hashes.
  private func addRecorded(_ root: KeyedArchive.Object) {
    if root.fields[ArchiveKey.localization] != nil {
      model.localizationDictionary =
        archive.dictionary(root.fields[ArchiveKey.localization]) as? [String: String]
    }
    for (entity, object) in entities {
      if case .data(let hash) = archive.value(object.fields[ArchiveKey.versionHash]),
        hash.count == VersionInfo.hashSize
      {
        entity.recordVersionHash(Data(hash))
      }
    }
    if let checksum = archive.string(root.fields[ArchiveKey.versionChecksum]) {
      model.recordedChecksum = (checksum, model.digest)
    }
  }

  /// Adds a warning about an entity or a property.
  func warn(
    _ message: String, _ nextStep: String?, of entity: NSEntityDescription?,
    property: String? = nil
  ) {
    guard warnings.count < ModelLimits.errors else { return }
    warnings.append(
      ModelError(
        message, nextStep: nextStep, entity: entity?.name, property: property, isWarning: true))
  }

  /// Returns the entity that a value refers to, or else the one with a name.
  func entity(
    _ value: BinaryPropertyList.Value?, named name: BinaryPropertyList.Value?
  ) -> NSEntityDescription? {
    if case .uid(let uid) = value, let entity = entitiesByID[uid] { return entity }
    return archive.string(name).flatMap { entitiesByName[$0] }
  }

  private func addEntities(_ root: KeyedArchive.Object) throws(ModelError) {
    var waiting = archive.entries(root.fields["NSEntities"]).map(\.value)[...]
    while let value = waiting.popFirst() {
      guard let object = archive.object(value), entitiesByID[object.uid] == nil else { continue }
      guard let name = archive.string(object.fields["NSEntityName"]), !name.isEmpty else {
        errors.append(ModelError("An entity of the compiled model has no name."))
        continue
      }
      let entity = NSEntityDescription()
      entity.name = name
      guard entitiesByName[name] == nil else {
        errors.append(
          ModelError("The compiled model has two entities named \(name).", entity: name))
        continue
      }
      entitiesByName[name] = entity
      guard entities.count < ModelLimits.entities else {
        throw ModelError("The compiled model has more than \(ModelLimits.entities) entities.")
      }
      entitiesByID[object.uid] = entity
      let fields = object.fields
      entity.managedObjectClassName =
        archive.string(fields["NSClassNameForEntity"]) ?? "NSManagedObject"
      entity.isAbstract = archive.flag(fields["NSIsAbstract"])
      entity.versionHashModifier = archive.string(fields["NSVersionHashModifier"])
      entity.explicitRenamingIdentifier = renaming(fields, name: name)
      entity.userInfo = userInfo(fields)
      entity.unreadTexts = unreadTexts(fields)
      for (key, text) in entity.unreadTexts.sorted(by: { $0.key < $1.key }) {
        warn(
          "\(key) is \"\(text)\", which is invalid and is ignored.",
          "Correct it in the model document.", of: entity)
      }
      entity.coreSpotlightDisplayNameExpression =
        archive.string(fields[ArchiveKey.spotlightName]).flatMap { expression($0) }
      entities.append((entity, object))
      waiting.append(contentsOf: archive.entries(fields["NSSubentities"]).map(\.value))
    }
    entities.sort { ($0.entity.name ?? "") < ($1.entity.name ?? "") }
  }

  private func linkParents() throws(ModelError) {
    var hierarchy = EntityHierarchy()
    for (entity, object) in entities {
      if case .uid(let uid) = object.fields["NSSuperentity"], let parent = entitiesByID[uid] {
        hierarchy.put(entity, below: parent)
      }
    }
    if let refused = hierarchy.link().first {
      throw ModelError(
        "The parent entities in the compiled model form a cycle, or the hierarchy is too deep.",
        entity: refused.name)
    }
  }

  /// Returns the entities, with superentities before their subentities.
  private func sortedByDepth() -> [(entity: NSEntityDescription, object: KeyedArchive.Object)] {
    let depths = entities.map { ($0, $0.entity.lookups.lineage.count) }
    return depths.sorted { $0.1 < $1.1 }.map(\.0)
  }

  func renaming(_ fields: [String: BinaryPropertyList.Value], name: String) -> String? {
    archive.string(fields["NSRenamingIdentifier"]).flatMap { $0 == name ? nil : $0 }
  }

  func userInfo(_ fields: [String: BinaryPropertyList.Value]) -> [AnyHashable: Any]? {
    let info = archive.userInfo(fields["NSUserInfo"])
    return info.isEmpty ? nil : info
  }

  func unreadTexts(_ fields: [String: BinaryPropertyList.Value]) -> [String: String] {
    archive.dictionary(fields[ArchiveKey.unread]) as? [String: String] ?? [:]
  }

  /// Returns a fetch request template from its archived dictionary.
  func template(_ value: BinaryPropertyList.Value?) -> FetchRequestTemplate? {
    var template = FetchRequestTemplate(archived: archive.dictionary(value))
    // It's parsed when it's used.
    if let format = template?.predicateFormat, !mayParse(format) { template?.predicateFormat = nil }
    for format in template?.original?.formats ?? [] where !mayParse(format) {
      template?.original = nil
    }
    return template
  }

  /// Reads the configurations: OpenCoreData's, or any dictionary of the model from names to lists
  /// of entities.
  ///
  /// Apple's key isn't known.
  private func addConfigurations(_ root: KeyedArchive.Object) {
    for key in root.fields.keys.sorted()
    where !["NSEntities", ArchiveKey.configurations].contains(key) {
      for (name, members) in archive.entries(root.fields[key]) {
        var values = archive.list(members)
        if values.isEmpty { values = archive.entries(members).map(\.value) }
        let found = values.compactMap { entity($0, named: nil) }
        guard let name = archive.string(name), !found.isEmpty, found.count == values.count,
          found.allSatisfy({ $0.managedObjectModel === model })
        else { continue }
        model.setEntities(found, forConfigurationName: name)
      }
    }
    for (name, members) in archive.entries(root.fields[ArchiveKey.configurations]) {
      guard let name = archive.string(name) else { continue }
      let members = archive.list(members).compactMap { archive.string($0) }
      model.setEntities(
        members.compactMap { entitiesByName[$0] }, forConfigurationName: name)
    }
  }
}

extension ModelArchiveReader {
  /// Adds the indexes and uniqueness constraints of an entity.
  ///
  /// Newer archives repeat every fetch index as a compound index; those are omitted.
  func addIndexes(to entity: NSEntityDescription, from object: KeyedArchive.Object) {
    entity.indexes = archive.list(object.fields["NSFetchIndexDescriptions"]).compactMap { value in
      archive.object(value).flatMap { index($0, of: entity) }
    }
    let indexed = Set(entity.indexes.map { $0.elements.compactMap(\.propertyName) })
    entity.compoundIndexes = groups(object.fields["NSCompoundIndexes"]).filter {
      !indexed.contains($0)
    }
    entity.uniquenessConstraints = groups(object.fields["NSUniqueTuples"])
  }

  /// Returns groups of property names from groups whose members are strings or properties.
  private func groups(_ value: BinaryPropertyList.Value?) -> [[String]] {
    archive.list(value).map { group in
      archive.list(group).compactMap { member in
        archive.string(member)
          ?? archive.object(member).flatMap { archive.string($0.fields["NSPropertyName"]) }
      }
    }
  }

  private func index(
    _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSFetchIndexDescription? {
    guard let name = archive.string(object.fields["NSIndexName"]) else { return nil }
    let elements = archive.list(object.fields["NSIndexElements"]).compactMap {
      archive.object($0).flatMap { element($0, of: entity) }
    }
    let index = NSFetchIndexDescription(name: name, elements: elements)
    if let format = archive.string(object.fields[ArchiveKey.partialIndex]) {
      guard mayParse(format) else { return index }
      do {
        index.partialIndexPredicate = try NSPredicate.parse(format, arguments: [])
      } catch {
        index.unreadTexts["partialIndexPredicate"] = format
        warn(
          "The predicate of the index \(name) can't be read: \(error.message).",
          "Write a complete predicate, or remove it.", of: entity)
      }
    } else if archive.object(object.fields["NSPartialIndexPredicate"]) != nil {
      warn(
        "The predicate of the index \(name) isn't read from a compiled model: the index contains all rows.",
        Self.document, of: entity)
    }
    return index
  }

  /// Returns the expression that an element of an index covers, or `nil` if it covers a property.
  private func computed(
    _ object: KeyedArchive.Object, name: String
  ) -> NSPropertyDescription? {
    guard archive.string(object.fields[ArchiveKey.indexExpression]) != nil else { return nil }
    let description = expressionDescription(object.fields)
    description?.name = name
    return description
  }

  /// Returns the description of a value that an expression computes, or `nil` for other properties.
  func expressionDescription(
    _ fields: [String: BinaryPropertyList.Value]
  ) -> NSExpressionDescription? {
    guard let type = fields[ArchiveKey.expressionType] else { return nil }
    let description = NSExpressionDescription()
    description.expression =
      archive.string(fields[ArchiveKey.indexExpression]).flatMap { expression($0) }
    description.expressionResultType =
      archive.integer(type).flatMap { UInt(exactly: $0) }
      .flatMap { NSAttributeType(rawValue: $0) } ?? .undefinedAttributeType
    return description
  }

  private func element(
    _ object: KeyedArchive.Object, of entity: NSEntityDescription
  ) -> NSFetchIndexElementDescription? {
    guard let name = archive.string(object.fields["NSPropertyName"]) else { return nil }
    let property =
      computed(object, name: name) ?? entity.propertiesByName[name]
      ?? NSExpressionDescription(unknownProperty: name)
    let type = archive.integer(object.fields["NSFetchIndexElementType"])
    let element = NSFetchIndexElementDescription(
      property: property, collationType: type == 1 ? .rTree : .binary)
    element.isAscending = object.fields["NSAscending"].map { archive.flag($0) } ?? true
    return element
  }
}
