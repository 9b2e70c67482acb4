import Foundation
import PackagePlugin

/// Writes the classes of the models in a target's folder, at each build that finds a model changed.
///
/// Every `.xcdatamodeld` and every `.xcdatamodel` outside of one becomes one Swift file of the target.
/// Which entities get a class is said by each one's Codegen setting in the model editor.
@main
struct CoreDataModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "ModelCodeTool")
    let models = Self.models(below: target.directoryURL)
    if models.isEmpty {
      Diagnostics.warning(
        "\(target.name) has no .xcdatamodeld or .xcdatamodel to write classes for")
    }
    return models.map { model in
      let name = model.deletingPathExtension().lastPathComponent
      let output = context.pluginWorkDirectoryURL.appending(path: "\(name)+CoreDataModel.swift")
      return .buildCommand(
        displayName: "Writing the classes of \(model.lastPathComponent)",
        executable: tool.url,
        arguments: [model.path(percentEncoded: false), output.path(percentEncoded: false)],
        inputFiles: Self.files(below: model), outputFiles: [output])
    }
  }

  /// The models in a folder, sorted; what lies in a model is not looked into.
  private static func models(below folder: URL) -> [URL] {
    var found: [URL] = []
    for entry in children(of: folder) {
      switch entry.pathExtension {
      case "xcdatamodeld", "xcdatamodel": found.append(entry)
      default: found += models(below: entry)
      }
    }
    return found
  }

  /// Every file of a model: its versions, and the one that says which is current.
  private static func files(below folder: URL) -> [URL] {
    children(of: folder).flatMap { entry in
      let inside = files(below: entry)
      return inside.isEmpty ? [entry] : inside
    }
  }

  private static func children(of folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appending(path: $0) }
  }
}
