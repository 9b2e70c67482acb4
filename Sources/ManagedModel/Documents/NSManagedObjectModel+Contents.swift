extension NSManagedObjectModel {
  /// Reads a model from a document or a compiled form.
  ///
  /// Takes `.xcdatamodeld` and `.xcdatamodel` folders, `.mom` files and `.momd` folders. Costs one
  /// read of the file. The model may be changed afterwards. Apple's initialiser takes the compiled
  /// forms only.
  ///
  /// - Parameter url: The file or folder.
  /// - Returns: Nil when there is no such file or it is no sound model. `read(contentsOf:)` says
  ///   why.
  public convenience init?(contentsOf url: URL) {
    guard let model = try? NSManagedObjectModel.read(contentsOf: url) else { return nil }
    self.init()
    takeOver(model)
  }

  /// Reads a model from a document or a compiled form.
  ///
  /// - Parameter url: A `.xcdatamodeld` or `.xcdatamodel` folder, a `.mom` file or a `.momd`
  ///   folder, of which the current version is read.
  /// - Throws: Every error of a document, or what is wrong with a compiled model.
  package static func read(contentsOf url: URL) throws(ModelErrors) -> NSManagedObjectModel {
    switch url.pathExtension {
    case "mom": return try readCompiled(url)
    case "momd": return try readCompiled(currentVersion(inFolder: url))
    default: return try ModelDocument.read(url: url)
    }
  }

  private static func readCompiled(_ url: URL) throws(ModelErrors) -> NSManagedObjectModel {
    let data = try BoundedFile.read(url, limit: ModelArchive.maximumSize)
    do {
      return try ModelArchive.read(bytes: Array(data))
    } catch {
      var error = error
      error.file = url.path
      throw ModelErrors(error)
    }
  }

  /// The compiled version that `VersionInfo.plist` names, or the only one there is.
  private static func currentVersion(inFolder url: URL) throws(ModelErrors) -> URL {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    let compiled = names.filter { $0.hasSuffix(".mom") }
    if names.contains("VersionInfo.plist") {
      let file = url.appendingPathComponent("VersionInfo.plist")
      let data = try BoundedFile.read(file, limit: 1 << 20)
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
      if let list = list as? [String: Any],
        let name = list["NSManagedObjectModel_CurrentVersionName"] as? String,
        compiled.contains("\(name).mom")
      {
        return url.appendingPathComponent("\(name).mom")
      }
    }
    guard compiled.count == 1 else {
      throw ModelErrors(
        ModelError(
          "The folder does not say which of its \(compiled.count) versions is current.",
          nextStep: "Name one of its .mom files.", file: url.path))
    }
    return url.appendingPathComponent(compiled[0])
  }

  /// Moves everything out of another model, which is not used afterwards.
  private func takeOver(_ model: NSManagedObjectModel) {
    let configurations = model.configurations.map { name in
      (name, model.entities(forConfigurationName: name) ?? [])
    }
    let entities = model.entities
    model.entities = []
    self.entities = entities
    for (name, members) in configurations { setEntities(members, forConfigurationName: name) }
    versionIdentifiers = model.versionIdentifiers
    fetchRequestTemplates = model.fetchRequestTemplates
  }
}
