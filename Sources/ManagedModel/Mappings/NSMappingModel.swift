/// Describes how the stores of one model are migrated to another.
///
/// Create one in code, read it from a bundle, or have it inferred and then edit it. Use it on one
/// thread, and don't change it while it's used. Counterpart: `NSMappingModel`; the book's
/// chapter 14.
open class NSMappingModel: NSObject {
  /// The mappings of the entities, in the order in which they're processed.
  open var entityMappings: [NSEntityMapping]! = []

  /// The mappings of the entities by name.
  ///
  /// If several mappings have the same name, it's the first one.
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(
      (entityMappings ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Creates a mapping model without mappings.
  public override init() {
    super.init()
  }

  /// Creates a mapping model from a file.
  ///
  /// Compiled mapping models (`.cdm`) and mapping-model documents (`.xcmappingmodel`) are
  /// supported; Core Data's initializer supports compiled ones only. A document doesn't contain the
  /// version hashes and the standard expressions: they're derived from the models that it names,
  /// which must be in its folder or at their paths in a folder above. **Cost:** one read of the
  /// file, and of the models.
  ///
  /// - Parameter url: The file.
  /// - Returns: `nil` if the file can't be read or isn't a mapping model.
  public convenience init?(contentsOf url: URL?) {
    guard let url, let mapping = try? NSMappingModel.read(contentsOf: url) else { return nil }
    self.init()
    entityMappings = mapping.entityMappings
  }

  /// Creates the mapping model in bundles that migrates stores of one model to another.
  ///
  /// A compiled mapping model matches if it has the version hashes of both models' entities. A
  /// mapping-model document matches if the models that it names are versions in the same bundle
  /// with these version hashes. A mapping model that doesn't match is ignored without a message:
  /// don't edit the models after the mapping model is created.
  ///
  /// **Cost:** reads each mapping model among the bundles' resources, and the models that documents
  /// name.
  ///
  /// - Parameters:
  ///   - bundles: The bundles, or `nil` for the main bundle.
  ///   - sourceModel: The model of the stores.
  ///   - destinationModel: The model that the migrated stores have.
  /// - Returns: `nil` if there's no such mapping model.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel,
      let found = NSMappingModel.all(
        in: bundles ?? [.main], from: sourceModel, to: destinationModel
      ).first
    else { return nil }
    self.init()
    entityMappings = found.entityMappings
  }

  /// The names of the mappings.
  open override var description: String {
    "<NSMappingModel: \((entityMappings ?? []).map { $0.name ?? "" }.joined(separator: ", "))>"
  }
}

extension NSMappingModel {
  /// Reads a mapping model from a `.cdm` file or a `.xcmappingmodel` folder.
  ///
  /// - Throws: All errors of the mapping model, with line and column in a document.
  package static func read(contentsOf url: URL) throws(ModelErrors) -> NSMappingModel {
    guard isDocument(url) else { return try readCompiled(url) }
    let document = try MappingDocument(contentsOf: url)
    return try document.compile(
      from: document.model(at: document.sourcePath),
      to: document.model(at: document.destinationPath))
  }

  /// Reads a mapping model for two models, regardless of the models that it names.
  ///
  /// - Throws: The errors of `read(contentsOf:)`; an error for each name that isn't in the models.
  package static func read(
    contentsOf url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws(ModelErrors) -> NSMappingModel {
    let mapping =
      if isDocument(url) {
        try MappingDocument(contentsOf: url).compile(from: source, to: destination)
      } else {
        try readCompiled(url)
      }
    let problems = mapping.problems(from: source, to: destination)
    if !problems.isEmpty {
      throw ModelErrors(
        problems.map { problem in
          var problem = problem
          problem.file = url.relativePath
          return problem
        })
    }
    return mapping
  }

  /// Returns the mapping models in bundles that match two models, in the order of the bundles.
  ///
  /// Several are parts of one migration: each maps some of the entities. One that's in several
  /// bundles is returned once; those that can't be read are omitted. Core Data has no counterpart:
  /// its initializer with bundles returns the first.
  public static func all(
    in bundles: [Bundle], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [NSMappingModel] {
    distinct(
      bundles.compactMap(\.resourceURL).flatMap { MappingModelFile.search($0).files }
        .compactMap { $0.mappingModel(from: source, to: destination) })
  }

  /// Returns the mapping models but for copies of earlier ones, whose instances a migration would
  /// create again.
  package static func distinct(_ models: [NSMappingModel]) -> [NSMappingModel] {
    var seen: Set<[[String]]> = []
    return models.filter { model in
      seen.insert((model.entityMappings ?? []).map(\.outline)).inserted
    }
  }

  /// Returns the mapping models in bundles that match two models, if all in them can be read.
  ///
  /// - Throws: The error of `MappingModelFile.all(in:)`.
  package static func complete(
    in bundles: [Bundle], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws(ModelErrors) -> [NSMappingModel] {
    var found: [NSMappingModel] = []
    for folder in bundles.compactMap(\.resourceURL) {
      found += try MappingModelFile.all(in: folder).compactMap {
        $0.mappingModel(from: source, to: destination)
      }
    }
    return distinct(found)
  }

  fileprivate static func isDocument(_ url: URL) -> Bool {
    url.pathExtension == "xcmappingmodel" || url.lastPathComponent == "xcmapping.xml"
  }

  fileprivate static func readCompiled(_ url: URL) throws(ModelErrors) -> NSMappingModel {
    let data = try BoundedFile.read(url, limit: ModelLimits.fileSize)
    do {
      return try MappingArchive(Array(data)).mappingModel()
    } catch {
      var error = error
      error.file = url.relativePath
      throw ModelErrors(error)
    }
  }
}

/// A mapping model on disk, which is read once and compared with several models.
package struct MappingModelFile {
  /// The file or document.
  package let url: URL
  private let content: Content

  private enum Content {
    case compiled(NSMappingModel)
    /// A document with the digests of the models that it names.
    case document(MappingDocument, source: Data, destination: Data)
  }

  /// Reads the mapping models in a folder, sorted by name.
  ///
  /// Invalid mapping models, and documents whose models aren't found, are omitted. **Cost:** reads
  /// each of them, and the models that documents name.
  ///
  /// - Throws: An error if the folder, a mapping model, or a model that a document names can't be
  ///   read. It could be the one that a migration needs.
  package static func all(in folder: URL) throws(ModelErrors) -> [MappingModelFile] {
    let found = search(folder)
    if let error = found.error { throw error }
    return found.files
  }

  /// Reads the mapping models in a folder, as `all(in:)` does, with its error in the result.
  fileprivate static func search(_ folder: URL) -> (files: [MappingModelFile], error: ModelErrors?)
  {
    var names: [String] = []
    do throws(ModelErrors) {
      if try BoundedFile.isFolder(folder) == true { names = try BoundedFile.names(in: folder) }
    } catch {
      return ([], error)
    }
    names = names.filter { $0.hasSuffix(".cdm") || $0.hasSuffix(".xcmappingmodel") }
      .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    var files: [MappingModelFile] = []
    var unreadable: ModelErrors?
    for name in names {
      do throws(ModelErrors) {
        files.append(try MappingModelFile(folder.appendingPathComponent(name)))
      } catch {
        if error.isUnreadable, unreadable == nil { unreadable = error }
      }
    }
    return (files, unreadable)
  }

  /// Reads a mapping model, and the models that a document names.
  ///
  /// - Throws: All errors of the mapping model, or an error if a model that it names isn't found.
  package init(_ url: URL) throws(ModelErrors) {
    self.url = url
    guard NSMappingModel.isDocument(url) else {
      content = .compiled(try NSMappingModel.readCompiled(url))
      return
    }
    let document = try MappingDocument(contentsOf: url)
    content = .document(
      document, source: try document.model(at: document.sourcePath).digest,
      destination: try document.model(at: document.destinationPath).digest)
  }

  /// Returns whether the mapping model was created for stores of a model.
  ///
  /// **Cost:** computes hashes of the model; a document isn't compiled.
  package func isMade(from source: NSManagedObjectModel) -> Bool {
    switch content {
    case .compiled(let model): model.hasSourceHashes(of: source)
    case .document(_, let before, _): before == source.digest
    }
  }

  /// Returns whether migrated stores have a model.
  ///
  /// **Cost:** as for `isMade(from:)`.
  package func isMade(to destination: NSManagedObjectModel) -> Bool {
    switch content {
    case .compiled(let model): model.hasDestinationHashes(of: destination)
    case .document(_, _, let after): after == destination.digest
    }
  }

  /// Returns the mapping model for two models, or `nil` if it was created for others.
  package func mappingModel(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> NSMappingModel? {
    guard isMade(from: source), isMade(to: destination) else { return nil }
    let mapping: NSMappingModel? =
      switch content {
      case .compiled(let model): model
      case .document(let document, _, _): try? document.compile(from: source, to: destination)
      }
    return mapping.flatMap { $0.problems(from: source, to: destination).isEmpty ? $0 : nil }
  }
}

extension NSMappingModel {
  /// Returns the names in the mapping model that two models don't have, the hashes that differ, and
  /// the names that mappings of different entities share.
  ///
  /// A version hash of Core Data's is compared only with an entity whose own is known. **Cost:**
  /// linear in the size of the mapping model.
  package func problems(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [ModelError] {
    var problems: [ModelError] = []
    var named: [String: NSEntityMapping] = [:]
    for mapping in entityMappings ?? [] {
      let title = mapping.name ?? ""
      if mapping.destinationEntityName != nil {
        let other = named.updateValue(mapping, forKey: title)
        if let other, !other.hasSameEntities(as: mapping) {
          problems.append(
            ModelError(
              "Two mappings, of \(other.title) and of \(mapping.title), have the name '\(title)'.",
              nextStep: "Give each mapping a name of its own: associations are found by it."))
        }
      }
      check(mapping.sourceEntityName, mapping.sourceEntityVersionHash, "source", source)
      guard
        let entity = check(
          mapping.destinationEntityName, mapping.destinationEntityVersionHash, "destination",
          destination)
      else { continue }
      for (property, isAttribute) in mapping.properties {
        let name = property.name ?? ""
        let known =
          isAttribute
          ? Array(entity.attributesByName.keys) : Array(entity.relationshipsByName.keys)
        guard !known.contains(name) else { continue }
        problems.append(
          ModelError(
            "The mapping \(title) sets \(name), which \(entity.name ?? "") doesn't have.",
            nextStep: NearestName.nextStep(
              for: name, among: known.sorted(), otherwise: "Remove it from the mapping model."),
            entity: entity.name, property: name))
      }

      @discardableResult
      func check(
        _ name: String?, _ hash: Data?, _ role: String, _ model: NSManagedObjectModel
      ) -> NSEntityDescription? {
        guard let name else { return nil }
        guard let entity = model.entitiesByName[name] else {
          problems.append(
            ModelError(
              "The \(role) model has no entity \(name), which the mapping \(title) names.",
              nextStep: NearestName.nextStep(
                for: name, among: model.entitiesByName.keys.sorted(),
                otherwise: "Use the mapping model with the models that it was made for."),
              entity: name))
          return nil
        }
        if let hash, entity.differs(from: hash) {
          problems.append(
            ModelError(
              "The mapping \(title) was made for another version of the entity \(name) of the \(role) model.",
              nextStep: "Re-create the mapping model for these versions.", entity: name))
        }
        return entity
      }
    }
    return problems
  }

  /// Returns whether each mapping has the version hash of its source entity in a model.
  func hasSourceHashes(of model: NSManagedObjectModel) -> Bool {
    hasHashes(of: model, \.sourceEntityName, \.sourceEntityVersionHash)
  }

  /// Returns whether each mapping has the version hash of its destination entity in a model.
  func hasDestinationHashes(of model: NSManagedObjectModel) -> Bool {
    hasHashes(of: model, \.destinationEntityName, \.destinationEntityVersionHash)
  }

  private func hasHashes(
    of model: NSManagedObjectModel, _ name: KeyPath<NSEntityMapping, String?>,
    _ hash: KeyPath<NSEntityMapping, Data?>
  ) -> Bool {
    let mappings = entityMappings ?? []
    return !mappings.isEmpty
      && mappings.allSatisfy { mapping in
        guard let name = mapping[keyPath: name] else { return true }
        let hash = mapping[keyPath: hash]
        return hash != nil && model.entitiesByName[name]?.versionHash == hash
      }
  }
}

extension NSEntityMapping {
  /// The attribute mappings, followed by the relationship mappings.
  fileprivate var properties: [(mapping: NSPropertyMapping, isAttribute: Bool)] {
    (attributeMappings ?? []).map { ($0, true) } + (relationshipMappings ?? []).map { ($0, false) }
  }

  /// The names of its entities.
  fileprivate var title: String {
    [sourceEntityName, destinationEntityName].compactMap { $0 }.joined(separator: " to ")
  }

  fileprivate func hasSameEntities(as other: NSEntityMapping) -> Bool {
    sourceEntityName == other.sourceEntityName
      && destinationEntityName == other.destinationEntityName
  }

  /// What determines which instances it creates, with which values.
  fileprivate var outline: [String] {
    let texts = properties.flatMap { property, _ -> [String?] in
      [
        property.name, property.valueExpression?.description,
        ModelComparison.text(ofUserInfo: property.userInfo),
      ]
    }
    let own: [String?] = [
      name, sourceEntityName, destinationEntityName, entityMigrationPolicyClassName,
      sourceExpression?.description, ModelComparison.text(ofUserInfo: userInfo),
    ]
    return (own + texts).map { $0 ?? "" }
  }
}

extension NSEntityDescription {
  /// Returns whether a version hash is known to differ from the entity's.
  ///
  /// It isn't known for one of Core Data's if the entity's own isn't known.
  fileprivate func differs(from hash: Data) -> Bool {
    guard hash != digest else { return false }
    return currentRecordedHash.map { $0 != hash } ?? false
  }
}
