import Foundation
import WorkbenchText

/// Finds scenario files: those that are named, and all below a folder.
package enum ScenarioFinder {
  /// A scenario file.
  package struct Found: Sendable, Hashable {
    /// As it was given, or below the folder that was given.
    package var path: String
    /// What its reports are called: the path below the folder, without its extension.
    package var name: String
  }

  /// The files that a path names, sorted by path: itself, or those of a folder and the folders in it.
  ///
  /// A folder's files end in `.yml` or `.yaml`; what is hidden is passed over.
  /// - Throws: `InputRefusal` for a path that leads nowhere, and for a folder without scenarios.
  package static func files(at path: String) throws -> [Found] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else {
      try InputFile.check(path)
      return [named(path)]
    }
    let found = (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? [])
      .filter { file in
        ["yml", "yaml"].contains((file as NSString).pathExtension.lowercased())
          && !file.split(separator: "/").contains { $0.hasPrefix(".") }
      }
      .sorted()
    guard !found.isEmpty else {
      throw InputRefusal(
        kind: .missing, message: "there is no scenario in the folder \(path)",
        nextStep: "write one with `cdprof new NAME`, or name another folder")
    }
    let folder = path.hasSuffix("/") ? path : "\(path)/"
    return found.map { Found(path: folder + $0, name: baseName($0)) }
  }

  /// What reports of a scenario from standard input are called.
  static let standardInputName = "stdin"

  /// The file of a path, whether it is there or not.
  package static func named(_ path: String) -> Found {
    guard path != InputFile.standardInput else {
      return Found(path: path, name: standardInputName)
    }
    return Found(path: path, name: baseName((path as NSString).lastPathComponent))
  }

  private static func baseName(_ path: String) -> String {
    (path as NSString).deletingPathExtension
  }
}
