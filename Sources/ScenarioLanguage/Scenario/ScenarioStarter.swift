package import Foundation
package import OpenCoreData
package import WorkbenchText

/// The first scenario of somebody's own: short, commented, and ready to run.
package struct ScenarioStarter: Sendable {
  /// A file that goes with the starter.
  package struct File: Sendable {
    /// From the folder the starter is written to.
    package var path: String
    package var text: String
  }

  /// The scenario file and, where no store brings one, the model beside it.
  package let files: [File]

  /// A starter on data that is made, for a small model of its own.
  ///
  /// - Parameter name: of the scenario and its file.
  package init(name: String) {
    files = [
      File(path: "\(name).yml", text: ScenarioStarter.text(name: name)),
      File(path: "Models/Library.xcdatamodel/contents", text: ScenarioStarter.library),
      ScenarioStarter.schema,
    ]
  }

  /// A starter on a copy of a store that carries its model.
  ///
  /// - Parameters:
  ///   - model: The store's own.
  ///   - counts: Rows of each entity itself.
  ///   - folder: where the file will stand, from which the store's path is written.
  /// - Throws: `InputRefusal` when no entity has objects.
  package init(
    name: String, store: URL, model: NSManagedObjectModel, counts: [EntityCount], folder: URL
  ) throws {
    guard let most = counts.max(by: { $0.count < $1.count }),
      let entity = model.entitiesByName[most.name]
    else {
      throw InputRefusal(
        kind: .unusable, message: "\(store.lastPathComponent) has no entity with objects",
        nextStep: "name another store, or leave --store out")
    }
    let attributes = entity.attributesByName.values.filter { !$0.isTransient }.map(\.name).sorted()
    let path = ScenarioDraft.path(of: store, from: folder)
    files = [
      File(
        path: "\(name).yml",
        text: ScenarioStarter.text(
          name: name, store: path, entity: entity.name ?? most.name, attribute: attributes.first)),
      ScenarioStarter.schema,
    ]
  }

  /// What the first line of a starter names, for editors.
  private static var schema: File {
    File(path: ScenarioSchema.fileName, text: ScenarioSchema.document)
  }

  /// Writes the files; a model or schema that is there already is used as it is.
  ///
  /// - Parameter force: whether the scenario's file is replaced if it exists.
  /// - Returns: The paths of what was written.
  /// - Throws: `CommandFailure` when the scenario's file is there already, and nothing is written then;
  ///   `InputRefusal` for a folder or device in its place; the file system's `NSError`.
  package func write(to folder: URL, force: Bool = false) throws -> [String] {
    var written: [String] = []
    for (index, file) in files.enumerated() {
      let url = folder.appendingPathComponent(file.path)
      let exists = FileKind.mode(of: url.path, followingLinks: false) != nil
      if exists, index > 0 { continue }
      guard !exists || force else {
        throw CommandFailure(
          PrintableText.line("there is a file \(url.relativePath) already"),
          nextStep: "choose another name, or replace the file with --force")
      }
      try OutputFile.makeFolder(url.deletingLastPathComponent())
      try OutputFile.write(Data(file.text.utf8), to: url, force: force)
      written.append(url.relativePath)
    }
    return written
  }
}
