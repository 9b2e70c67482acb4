/// A mapping-model document of Xcode: `xcmapping.xml` in a `.xcmappingmodel` folder.
///
/// It's the XML store of Xcode's own mapping editor. The copies of both models that the editor
/// archives in it aren't read.
struct MappingDocument {
  /// The mapping of an entity.
  struct Entity {
    /// The name of the source entity; `nil` for an added entity.
    let source: String?
    /// The name of the destination entity; `nil` for a removed entity.
    let destination: String?
    /// The name of the policy class; `nil` for none.
    let policy: String?
    /// The mappings of the attributes, in the order of their names.
    let attributes: [Property]
    /// The mappings of the relationships, in the order of their names.
    let relationships: [Property]
    /// The position of the mapping in the document.
    let position: Position
  }

  /// The mapping of a property.
  struct Property {
    /// The name of the destination entity's property.
    let name: String
    /// The archived expression; `nil` if the standard expression applies.
    let expression: NSExpression?
    /// The key path of a relationship's source instances; `nil` if the standard expression applies.
    let sourceKeyPath: String?
    /// The mapping that created the destination instances of the key path's source instances.
    let sourceMapping: String?
    /// The position of the mapping in the document.
    let position: Position
  }

  /// The position of an element.
  struct Position {
    /// The line, counted from 1.
    let line: Int
    /// The column, in characters, counted from 1.
    let column: Int
  }

  /// The file, for errors.
  let file: URL
  /// The path of the source model in the project.
  let sourcePath: String
  /// The path of the destination model in the project.
  let destinationPath: String
  /// The mappings in the order of their numbers.
  let entities: [Entity]

  /// Reads a document.
  ///
  /// - Parameter url: A `.xcmappingmodel` folder or its `xcmapping.xml`.
  /// - Throws: Every error of the document, with line and column.
  init(contentsOf url: URL) throws(ModelErrors) {
    file =
      url.lastPathComponent == "xcmapping.xml" ? url : url.appendingPathComponent("xcmapping.xml")
    let data = try BoundedFile.read(file, limit: ModelLimits.fileSize)
    let bytes = try DocumentEncoding.utf8(data, file: file.relativePath)
    let text = DocumentText(file: file.relativePath, bytes: bytes)
    let root = try DocumentParser.parse(bytes, text: text, keepsCharacters: true)
    var objects = MappingObjects(root, text)
    guard let model = objects.model else {
      throw ModelErrors(
        ModelError(
          "The document isn't a mapping model.",
          nextStep: "Give a .xcmappingmodel folder that Xcode's mapping editor saved.",
          file: file.relativePath, line: 1, column: 1))
    }
    sourcePath = model["sourcemodelpath"] ?? ""
    destinationPath = model["destinationmodelpath"] ?? ""
    entities = objects.entities()
    if !objects.errors.isEmpty { throw ModelErrors(objects.errors) }
  }

  /// Reads one of the models that the document names.
  ///
  /// The model is searched for at its path in the document's folder and in the folders above, and
  /// then in the document's folder itself, where it can be compiled.
  ///
  /// - Parameter path: `sourcePath` or `destinationPath`, such as
  ///   `Migrations/Moody.xcdatamodeld/Moody 2.xcdatamodel`.
  /// - Throws: An error if the model isn't found, or the errors of reading it.
  func model(at path: String) throws(ModelErrors) -> NSManagedObjectModel {
    let parts = path.split(separator: "/").map(String.init)
    guard let version = parts.last, !parts.contains("..") else { throw missing(path) }
    var folder = file.deletingLastPathComponent().deletingLastPathComponent()
    let home = folder
    for _ in 0..<ModelLimits.parentFolders {
      let url = folder.appendingPathComponent(path)
      if try BoundedFile.isFolder(url) != nil {
        return try NSManagedObjectModel.read(contentsOf: url)
      }
      let parent = folder.deletingLastPathComponent().standardizedFileURL
      guard parent.path != folder.path else { break }
      folder = parent
    }
    for part in parts.suffix(2).dropLast() {
      let stem = (part as NSString).deletingPathExtension
      for name in [part, "\(stem).momd"] {
        let url = home.appendingPathComponent(name)
        guard try BoundedFile.isFolder(url) != nil else { continue }
        return try NSManagedObjectModel.read(
          contentsOf: url, version: (version as NSString).deletingPathExtension)
      }
    }
    let singleVersion = home.appendingPathComponent(version)
    guard try BoundedFile.isFolder(singleVersion) != nil else { throw missing(path) }
    return try NSManagedObjectModel.read(contentsOf: singleVersion)
  }

  private func missing(_ path: String) -> ModelErrors {
    ModelErrors(
      ModelError(
        "The model \(path), which the mapping model names, wasn't found.",
        nextStep: "Place the mapping model next to the model's versions.", file: file.relativePath))
  }
}

/// The objects of a mapping-model document by their IDs.
private struct MappingObjects {
  /// The errors of the document.
  private(set) var errors: [ModelError] = []
  /// The attributes of the object for the mapping model; `nil` if there isn't one.
  let model: [String: String]?
  private let objects: [Object]
  private let text: DocumentText

  fileprivate struct Object {
    let type: String
    let id: String
    let values: [String: String]
    /// The ID of the entity mapping that a property mapping belongs to.
    let owner: String?
    let offset: Int
  }

  init(_ root: DocumentElement, _ text: DocumentText) {
    self.text = text
    objects = root.children(named: "object").map { element in
      let values = element.children(named: "attribute").map { attribute in
        (attribute.attributes["name"] ?? "", attribute.characters)
      }
      let owner = element.children(named: "relationship")
        .first { $0.attributes["name"] == "entitymapping" }
      let ids = owner?.attributes["idrefs"] ?? ""
      return Object(
        type: element.attributes["type"] ?? "", id: element.attributes["id"] ?? "",
        values: Dictionary(values, uniquingKeysWith: { first, _ in first }),
        owner: ids.isEmpty ? nil : ids, offset: element.offset)
    }
    model = objects.first { $0.type == "XDDEVMAPPINGMODEL" }?.values
  }

  /// Returns the entity mappings in the order of their numbers; property mappings without an entity
  /// mapping, which the editor can leave in a document, are omitted.
  mutating func entities() -> [MappingDocument.Entity] {
    var attributes: [String: [MappingDocument.Property]] = [:]
    var relationships: [String: [MappingDocument.Property]] = [:]
    for object in objects {
      guard let owner = object.owner else { continue }
      switch object.type {
      case "XDDEVATTRIBUTEMAPPING": attributes[owner, default: []].append(property(object))
      case "XDDEVRELATIONSHIPMAPPING": relationships[owner, default: []].append(property(object))
      default: break
      }
    }
    let found = objects.filter { $0.type == "XDDEVENTITYMAPPING" }
    let numbered = found.map { object in
      (number: object.values["mappingnumber"].flatMap { Int($0) } ?? .max, object: object)
    }
    return numbered.sorted { $0.number < $1.number }.map { _, object in
      MappingDocument.Entity(
        source: object.text("sourcename"), destination: object.text("destinationname"),
        policy: object.text("migrationpolicyclassname"),
        attributes: (attributes[object.id] ?? []).sorted { $0.name < $1.name },
        relationships: (relationships[object.id] ?? []).sorted { $0.name < $1.name },
        position: position(of: object))
    }
  }

  private mutating func property(_ object: Object) -> MappingDocument.Property {
    let name = object.text("name") ?? ""
    var expression: NSExpression?
    if let encoded = object.text("valueexpressiondata") {
      do throws(ModelError) {
        guard let data = Data(base64Encoded: encoded, options: .ignoreUnknownCharacters) else {
          throw ModelError("It isn't encoded in Base64.")
        }
        expression = try MappingArchive(Array(data)).expression()
      } catch {
        let position = position(of: object)
        errors.append(
          ModelError(
            "The value expression of \(name) can't be read. \(error.message)",
            nextStep: "Enter it again in the mapping editor.", property: name, file: text.file,
            line: position.line, column: position.column))
      }
    }
    return MappingDocument.Property(
      name: name, expression: expression, sourceKeyPath: object.text("sourcekeypath"),
      sourceMapping: object.text("sourcemappingname"), position: position(of: object))
  }

  private func position(of object: Object) -> MappingDocument.Position {
    let position = text.position(of: object.offset)
    return MappingDocument.Position(line: position.line, column: position.column)
  }
}

extension MappingObjects.Object {
  /// Returns the value of an attribute, or `nil` if it's missing or empty.
  fileprivate func text(_ name: String) -> String? {
    values[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension MappingDocument {
  /// Returns the mapping model that Xcode's compiler creates from the document and its two models.
  ///
  /// The compiler adds what the document doesn't contain: names, types, version hashes, and the
  /// expressions of properties that don't have one.
  ///
  /// - Throws: An error for each mapping that names an entity that the models don't have.
  func compile(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws(ModelErrors) -> NSMappingModel {
    var errors: [ModelError] = []
    func entity(
      _ name: String?, _ model: NSManagedObjectModel, _ role: String, _ position: Position
    ) -> NSEntityDescription? {
      guard let name else { return nil }
      if let entity = model.entitiesByName[name] { return entity }
      // Each misspelled name is compared with all names.
      guard errors.count < ModelLimits.errors else { return nil }
      errors.append(
        ModelError(
          "The \(role) model has no entity \(name).",
          nextStep: NearestName.nextStep(
            for: name, among: model.entitiesByName.keys.sorted(), otherwise: "Remove its mapping."),
          entity: name, file: file.relativePath, line: position.line, column: position.column))
      return nil
    }
    let mapping = NSMappingModel()
    let names = Set(
      entities.map { NSEntityMapping.name(from: $0.source, to: $0.destination) })
    mapping.entityMappings = entities.map { mapped in
      let from = entity(mapped.source, source, "source", mapped.position)
      let to = entity(mapped.destination, destination, "destination", mapped.position)
      return mapped.compile(from, to, among: names)
    }
    if !errors.isEmpty { throw ModelErrors(errors) }
    return mapping
  }
}

extension MappingDocument.Entity {
  fileprivate func compile(
    _ source: NSEntityDescription?, _ destination: NSEntityDescription?, among names: Set<String>
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = NSEntityMapping.name(from: self.source, to: self.destination)
    mapping.mappingType =
      if policy != nil {
        .customEntityMappingType
      } else if source == nil {
        .addEntityMappingType
      } else if destination == nil {
        .removeEntityMappingType
      } else {
        .copyEntityMappingType
      }
    mapping.entityMigrationPolicyClassName = policy
    mapping.sourceEntityName = source?.name
    mapping.destinationEntityName = destination?.name
    mapping.sourceEntityVersionHash = source?.versionHash
    mapping.destinationEntityVersionHash = destination?.versionHash
    mapping.sourceExpression = source?.name.map(MappingExpression.fetch)
    mapping.attributeMappings = attributes.map { property in
      let standard =
        source?.attributesByName[property.name] == nil
        ? nil : MappingExpression.source(property.name)
      return NSPropertyMapping(property.name, property.expression ?? standard)
    }
    mapping.relationshipMappings = relationships.map { property in
      NSPropertyMapping(
        property.name,
        property.expression ?? property.relationshipExpression
          ?? standard(property.name, source, destination, names))
    }
    return mapping
  }

  /// Returns the expression for the destination instances of the source relationship with the same
  /// name.
  private func standard(
    _ name: String, _ source: NSEntityDescription?, _ destination: NSEntityDescription?,
    _ names: Set<String>
  ) -> NSExpression? {
    guard source?.relationshipsByName[name] != nil,
      let related = destination?.relationshipsByName[name]?.destinationEntity
    else { return nil }
    let mapping = NSEntityMapping.name(from: related.name, to: related.name)
    // Subentities have mappings of their own, and that of a renamed entity has another name.
    guard related.subentities.isEmpty, names.contains(mapping) else {
      return MappingExpression.instances(ofRelationship: name)
    }
    return MappingExpression.instances(ofMapping: mapping, MappingExpression.source(name))
  }
}

extension MappingDocument.Property {
  /// The expression for the destination instances that a mapping created for a key path's source
  /// instances; `nil` if the document names neither.
  fileprivate var relationshipExpression: NSExpression? {
    guard let sourceKeyPath, let sourceMapping,
      let sources = MappingExpression.ofText(sourceKeyPath)
    else { return nil }
    return MappingExpression.instances(ofMapping: sourceMapping, sources)
  }
}

extension NSEntityMapping {
  /// Returns the name that Xcode gives a mapping: `SourceToDestination`, or the name of the only
  /// entity.
  static func name(from source: String?, to destination: String?) -> String {
    guard let source, let destination else { return source ?? destination ?? "" }
    return "\(source)To\(destination)"
  }
}
