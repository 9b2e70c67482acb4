/// The folder of a model document and the versions in it.
struct ModelDocumentPackage {
  /// The names of the versions without extension, sorted as people sort.
  let versions: [String]
  private let url: URL
  private let kind: Kind

  private enum Kind { case file, model, versions }

  /// Looks at what a URL leads to.
  init(_ url: URL) throws(ModelErrors) {
    self.url = url
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw Self.error("There is no such file or folder.", "Check the name.", url)
    }
    guard isFolder.boolValue else {
      kind = .file
      versions = [url.deletingLastPathComponent().deletingPathExtension().lastPathComponent]
      return
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    if names.contains("contents") {
      kind = .model
      versions = [url.deletingPathExtension().lastPathComponent]
      return
    }
    let found = names.filter { $0.hasSuffix(".xcdatamodel") }
    guard !found.isEmpty else {
      guard !names.contains("elements") else {
        throw Self.error(
          "The model has the form that Xcode wrote before version 4, which is not read.",
          "Save it with a newer Xcode, or give the compiled model.", url)
      }
      throw Self.error(
        "The folder holds no model.", "Name a .xcdatamodel or .xcdatamodeld folder.", url)
    }
    kind = .versions
    versions = found.map { String($0.dropLast(".xcdatamodel".count)) }
      .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
  }

  /// The contents file of a version, nil for the current one.
  func contents(version: String?) throws(ModelErrors) -> URL {
    switch kind {
    case .file: return url
    case .model: return url.appendingPathComponent("contents")
    case .versions:
      let name = if let version { try named(version) } else { try currentVersion() }
      let folder = url.appendingPathComponent("\(name).xcdatamodel")
      return try ModelDocumentPackage(folder).contents(version: nil)
    }
  }

  /// The version that `.xccurrentversion` names, or the only one there is.
  func currentVersion() throws(ModelErrors) -> String {
    if kind == .versions, let name = try chosenVersion() { return try named(name) }
    guard versions.count == 1 else {
      throw Self.error(
        "The folder does not say which of its \(versions.count) versions is current.",
        "Name one of: \(versions.joined(separator: ", ")).", url)
    }
    return versions[0]
  }

  private func named(_ name: String) throws(ModelErrors) -> String {
    let suffix = ".xcdatamodel"
    let plain = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    guard !versions.contains(plain) else { return plain }
    let near = NearestName.of(plain, among: versions)
    throw Self.error(
      "There is no version \(plain).",
      near.map { "Did you mean \($0)?" } ?? "There are: \(versions.joined(separator: ", ")).", url)
  }

  private func chosenVersion() throws(ModelErrors) -> String? {
    let file = url.appendingPathComponent(".xccurrentversion")
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let data = try BoundedFile.read(file, limit: 1 << 20)
    let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
    guard let name = (list as? [String: Any])?["_XCCurrentVersionName"] as? String else {
      throw Self.error(
        "The file does not name the current version.",
        "Set _XCCurrentVersionName, or name a version.", file)
    }
    return name
  }

  private static func error(_ message: String, _ nextStep: String, _ url: URL) -> ModelErrors {
    ModelErrors(ModelError(message, nextStep: nextStep, file: url.path))
  }
}
