import ManagedModel

extension StoreMetadata {
  /// Compares a model with the one that a store was created with.
  ///
  /// The version hashes are compared if the model has hashes of the same kind. Otherwise the model
  /// in the store is compared, for which only Core Data's hashes or those of an earlier formula
  /// exist. It's also compared for external storage, which may not be part of Core Data's hashes.
  ///
  /// - Parameters:
  ///   - model: The model to open the store with.
  ///   - configuration: The configuration of the model; `nil` for all entities.
  ///   - url: The store's file, for the error.
  ///   - storedModel: Reads the model in the store; `nil` if there's none. A store with Core
  ///     Data's hashes is then compatible if its columns are.
  /// - Throws: 134100 with the entities that differ; the errors of reading the model.
  func check(
    _ model: NSManagedObjectModel, _ configuration: String?, at url: URL,
    storedModel: () throws -> NSManagedObjectModel?
  ) throws {
    let entities = model.entities(forConfigurationName: configuration) ?? []
    let own = Dictionary(
      entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let formula = NSManagedObjectModel.digestFormula(of: values)
    var matches = { (name: String, hash: Data) in own[name]?.matches(hash, formula) == true }
    var stored = hashes
    let isDecisive =
      hasOwnDigests
      ? formula == .current : own.values.allSatisfy { $0.currentRecordedHash != nil }
    if !isDecisive {
      if let kept = try storedModel() {
        // The store may contain a configuration of the model.
        stored = kept.entityDigestsByName.filter { hashes.isEmpty || hashes[$0.key] != nil }
        matches = { name, digest in own[name]?.digest == digest }
      } else if !hasOwnDigests {
        return
      }
    }
    var differing = Set(own.keys).union(stored.keys).filter { name in
      stored[name].map { !matches(name, $0) } ?? true
    }.sorted()
    if differing.isEmpty, isDecisive, !hasOwnDigests, entities.contains(where: \.hasBytes),
      let kept = try? storedModel()
    {
      differing = kept.entities.compactMap(\.name).filter { name in
        guard let former = kept.entitiesByName[name] else { return false }
        return own[name]?.hasSameExternalValues(as: former) == false
      }.sorted()
    }
    guard !differing.isEmpty else { return }
    // The metadata can list any number.
    let shown = differing.prefix(24).joined(separator: ", ")
    let rest = differing.count > 24 ? " and \(differing.count - 24) more" : ""
    throw NSError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The model isn't the one that the store was created with; these entities differ: "
        + "\(shown)\(rest).",
      [NSFilePathErrorKey: url.path, "metadata": values])
  }
}

extension StoreMetadata {
  /// Records Core Data's hashes in the model that the store contains, which is without them.
  func recordHashes(in model: NSManagedObjectModel) {
    guard !hasOwnDigests else { return }
    for entity in model.entities {
      if let hash = entity.name.flatMap({ hashes[$0] }) { entity.recordVersionHash(hash) }
    }
  }
}

extension NSError {
  /// The key of the model in a store whose version differs, in an error that a migration follows.
  static let storedModelKey = "cdprof.storedModel"
}

extension NSEntityDescription {
  /// Whether an attribute can have values in external storage.
  fileprivate var hasBytes: Bool { attributesByName.values.contains(where: \.hasBytes) }

  /// Returns whether the same attributes have values in external storage.
  fileprivate func hasSameExternalValues(as other: NSEntityDescription) -> Bool {
    let names = [self, other].map { entity in
      Set(entity.attributesByName.values.filter(\.hasExternalValues).map(\.name))
    }
    return names[0] == names[1]
  }
}
