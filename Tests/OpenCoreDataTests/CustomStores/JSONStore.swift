import OpenCoreData

/// An atomic store in a JSON file: metadata, and each object's entity, reference, and values.
final class JSONStore: NSAtomicStore, @unchecked Sendable {
  static let jsonType = NSPersistentStore.StoreType(rawValue: "JSONStore")
  /// The calls that the store got.
  private(set) var calls: [String] = []
  /// The error of the next save.
  var failure: NSError?
  /// Called by the next save, once.
  var duringSave: (() -> Void)?

  /// The contents of a file.
  private struct File: Codable {
    var uuid: String
    var hashes: [String: Data]
    var objects: [Object] = []
  }

  private struct Object: Codable {
    var entity: String
    var reference: String
    var texts: [String: String] = [:]
    var links: [String: [String]] = [:]
  }

  override var type: String { JSONStore.jsonType.rawValue }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    return [
      NSStoreUUIDKey: file.uuid, NSStoreTypeKey: JSONStore.jsonType.rawValue,
      NSStoreModelVersionHashesKey: file.hashes,
    ]
  }

  override func load() throws {
    calls.append("load")
    guard let url,
      let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName
    else { return }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch let error as NSError
      where error.code == CocoaError.Code.fileReadNoSuchFile.rawValue
    {
      return
    }
    let file = try JSONDecoder().decode(File.self, from: data)
    var nodes: [String: NSAtomicStoreCacheNode] = [:]
    for object in file.objects {
      guard let entity = entities[object.entity] else { continue }
      let node = NSAtomicStoreCacheNode(
        objectID: objectID(for: entity, withReferenceObject: object.reference))
      node.propertyCache = object.texts
      nodes[object.reference] = node
    }
    for object in file.objects {
      for (name, relationship) in entities[object.entity]?.relationshipsByName ?? [:] {
        let linked = (object.links[name] ?? []).compactMap { nodes[$0] }
        nodes[object.reference]?.setValue(
          relationship.isToMany ? Set(linked) : linked.first, forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  override func save() throws {
    calls.append("save \(cacheNodes().count)")
    if let duringSave {
      self.duringSave = nil
      duringSave()
    }
    if let failure {
      self.failure = nil
      throw failure
    }
    var file = File(
      uuid: identifier,
      hashes: metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:])
    for node in cacheNodes() {
      var object = Object(entity: node.objectID.entity.name ?? "", reference: name(node))
      for (key, value) in node.propertyCache ?? [:] {
        switch value {
        case let text as String: object.texts[key] = text
        case let other as NSAtomicStoreCacheNode: object.links[key] = [name(other)]
        case let others as Set<NSAtomicStoreCacheNode>: object.links[key] = others.map(name)
        default: break
        }
      }
      file.objects.append(object)
    }
    guard let url else { return }
    try JSONEncoder().encode(file).replaceFile(at: url)
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    calls.append("reference \(managedObject.entity.name ?? "")")
    return super.newReferenceObject(for: managedObject)
  }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    calls.append("new \(managedObject.value(forKey: "name") ?? "")")
    return super.newCacheNode(for: managedObject)
  }

  override func updateCacheNode(
    _ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject
  ) {
    calls.append("update \(managedObject.value(forKey: "name") ?? "")")
    super.updateCacheNode(node, from: managedObject)
  }

  override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    calls.append("remove \(cacheNodes.compactMap { $0.value(forKey: "name") as? String }.sorted())")
  }

  /// Returns the calls since the last time.
  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  private func name(_ node: NSAtomicStoreCacheNode) -> String {
    "\(referenceObject(for: node.objectID))"
  }
}

extension Data {
  /// Replaces a file by these bytes, completely or not at all.
  ///
  /// After a short write, Foundation's `write(to:options:)` writes the first bytes again, without
  /// an error, even if it's atomic.
  func replaceFile(at url: URL) throws {
    let new = url.appendingPathExtension("new")
    try Data().write(to: new)
    do {
      let file = try FileHandle(forWritingTo: new)
      defer { try? file.close() }
      try file.write(contentsOf: self)
      try file.synchronize()
      guard rename(new.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    } catch {
      try? FileManager.default.removeItem(at: new)
      throw error
    }
  }
}
