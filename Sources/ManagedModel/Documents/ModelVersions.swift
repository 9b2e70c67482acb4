/// A named version of a model.
package struct ModelVersion: Sendable {
  /// The name of the version, or of the file if it isn't one of several versions.
  package let name: String
  package let model: NSManagedObjectModel

  package init(name: String, model: NSManagedObjectModel) {
    (self.name, self.model) = (name, model)
  }
}

/// A model on disk, as a document or compiled, and its versions.
struct ModelVersions {
  /// The names of the versions without their extension, in the order of a file list.
  let names: [String]
  private let url: URL
  private let kind: Kind

  private enum Kind {
    /// A file: the contents of a document, or a compiled model.
    case file
    /// A `.xcdatamodel` folder.
    case document
    /// A `.xcdatamodeld` folder.
    case documents
    /// A `.momd` folder.
    case compiled

    var suffix: String {
      switch self {
      case .file: ""
      case .document, .documents: ".xcdatamodel"
      case .compiled: ".mom"
      }
    }
  }

  /// Inspects the file or folder at a URL.
  init(_ url: URL) throws(ModelErrors) {
    self.url = url
    guard let isFolder = try BoundedFile.isFolder(url) else {
      throw Self.error("There's no such file or folder.", "Check the name.", url)
    }
    guard isFolder else {
      kind = .file
      let isContents = url.lastPathComponent == "contents"
      names = [
        (isContents ? url.deletingLastPathComponent() : url).deletingPathExtension()
          .lastPathComponent
      ]
      return
    }
    let files = try BoundedFile.names(in: url)
    if files.contains("contents") {
      kind = .document
      names = [url.deletingPathExtension().lastPathComponent]
      return
    }
    guard
      let kind = [Kind.documents, .compiled].first(where: { kind in
        files.contains { $0.hasSuffix(kind.suffix) }
      })
    else { throw Self.error(noModelAmong: files, url) }
    self.kind = kind
    names = files.filter { $0.hasSuffix(kind.suffix) }.map {
      String($0.dropLast(kind.suffix.count))
    }
    .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
  }

  /// Returns the file of a version, or of the current one if the version is `nil`.
  func file(version: String?) throws(ModelErrors) -> URL {
    switch kind {
    case .file, .document:
      if let version { _ = try named(version) }
      return kind == .file ? url : url.appendingPathComponent("contents")
    case .documents, .compiled:
      let name = if let version { try named(version) } else { try current() }
      let found = url.appendingPathComponent(name + kind.suffix)
      return kind == .compiled ? found : try ModelVersions(found).file(version: nil)
    }
  }

  /// Returns the version that the folder names as the current one, or its only version.
  func current() throws(ModelErrors) -> String {
    if let name = try chosen() { return try named(name) }
    guard names.count == 1 else {
      throw Self.error(
        "The folder doesn't specify which of its \(names.count) versions is current.",
        "Specify one of: \(names.joined(separator: ", ")).", url)
    }
    return names[0]
  }

  private func named(_ name: String) throws(ModelErrors) -> String {
    let suffix = kind == .file ? "." + url.pathExtension : kind.suffix
    let plain = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    guard !names.contains(plain) else { return plain }
    throw Self.error(
      "There's no version \(plain).",
      NearestName.nextStep(
        for: plain, among: names, otherwise: "There are: \(names.joined(separator: ", "))."), url)
  }

  /// Returns the version that the folder's list names, or `nil` if there's no list, or if it
  /// doesn't mention the only version.
  private func chosen() throws(ModelErrors) -> String? {
    let (list, key) =
      kind == .compiled
      ? ("VersionInfo.plist", "NSManagedObjectModel_CurrentVersionName")
      : (".xccurrentversion", "_XCCurrentVersionName")
    let file = url.appendingPathComponent(list)
    guard kind == .documents || kind == .compiled,
      try BoundedFile.isFolder(file) != nil
    else { return nil }
    let data = try BoundedFile.read(file, limit: ModelLimits.versionListSize)
    guard let name = (PropertyList.read(data) as? [String: Any])?[key] as? String else {
      if names.count == 1 { return nil }
      throw Self.error(
        "The file doesn't specify the current version.", "Set \(key), or specify a version.", file)
    }
    return name
  }

  private static func error(noModelAmong files: [String], _ url: URL) -> ModelErrors {
    if files.contains("elements") {
      return error(
        "The model is in the format that Xcode used before version 4, which isn't supported.",
        "Save it with a newer Xcode, or specify the compiled model.", url)
    }
    if files.contains(where: { $0.hasSuffix(".omo") }) {
      return error(
        "The folder contains only optimized models (.omo), whose format isn't public.",
        "Specify the version's .mom file.", url)
    }
    return error(
      "The folder contains no model.", "Specify a .xcdatamodel or .xcdatamodeld folder.", url)
  }

  private static func error(_ message: String, _ nextStep: String, _ url: URL) -> ModelErrors {
    ModelErrors(ModelError(message, nextStep: nextStep, file: url.relativePath))
  }
}
