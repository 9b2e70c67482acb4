import Foundation
import PackagePlugin

/// Generates the classes of the models in a target's folder when a build finds a changed model.
///
/// The plugin generates a Swift file for each `.xcdatamodeld`, and for each `.xcdatamodel` that
/// isn't in one. The Codegen setting of an entity in the model editor determines whether a class is
/// generated for it.
@main
struct CoreDataModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "ModelCodeTool")
    var visited: Set<String> = []
    let models = Self.models(below: target.directoryURL, &visited)
    if models.isEmpty {
      Diagnostics.warning(
        "\(target.name) contains no .xcdatamodeld or .xcdatamodel to generate classes for")
    }
    var names: Set<String> = []
    return models.compactMap { model in
      let name = model.deletingPathExtension().lastPathComponent
      guard names.insert(name).inserted else {
        Diagnostics.error("\(target.name) contains two models named \(name); rename one of them")
        return nil
      }
      var visited: Set<String> = []
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)+CoreDataModel.swift")
      return .buildCommand(
        displayName: "Generating the classes of \(model.lastPathComponent)",
        executable: tool.url,
        arguments: [model.path(percentEncoded: false), output.path(percentEncoded: false)],
        inputFiles: Self.files(below: model, &visited), outputFiles: [output])
    }
  }

  /// Returns the models in a folder, sorted; models inside another model aren't included.
  private static func models(below folder: URL, _ visited: inout Set<String>) -> [URL] {
    var found: [URL] = []
    for entry in children(of: folder, &visited) {
      switch entry.pathExtension {
      case "xcdatamodeld", "xcdatamodel": found.append(entry)
      default: found += models(below: entry, &visited)
      }
    }
    return found
  }

  /// Returns all files of a model: its versions, and the file that specifies the current one.
  private static func files(below folder: URL, _ visited: inout Set<String>) -> [URL] {
    var found: [URL] = []
    for entry in children(of: folder, &visited) {
      let inside = files(below: entry, &visited)
      found += inside.isEmpty ? [entry] : inside
    }
    return found
  }

  /// Returns what a folder contains, sorted; nothing if it was visited before, because links can
  /// form cycles.
  private static func children(of folder: URL, _ visited: inout Set<String>) -> [URL] {
    guard visited.insert(folder.resolvingSymlinksInPath().path).inserted else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appending(path: $0) }
  }
}
