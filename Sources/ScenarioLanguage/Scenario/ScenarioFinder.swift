import Foundation
import OpenCoreData
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
  /// - Throws: `InvalidInputError` for a path that leads nowhere, and for a folder without scenarios.
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
      throw InvalidInputError(
        kind: .missing, message: "there's no scenario in the folder \(path)",
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

/// Which scenarios and variants are run, of those that were found.
package struct ScenarioChoice: Sendable {
  /// A part of the file's path or of the scenario's name, or an id that it covers; nil for all.
  package var only: String?
  /// Names of variants; empty for all.
  package var variants: [String]

  package init(only: String? = nil, variants: [String] = []) {
    self.only = only
    self.variants = variants
  }

  /// Why nothing is left to run.
  package struct Empty: Error, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The chosen scenarios with their chosen variants, in their order.
  ///
  /// - Throws: `Empty` when nothing fits, or a variant is named that no scenario has.
  package func scenarios(of all: [Scenario]) throws(Empty) -> [Scenario] {
    let fitting = all.filter(fits)
    if let only, fitting.isEmpty {
      throw empty(
        "no scenario fits `\(only)`", only, among: all.map(\.fileName) + all.map(\.name),
        "write a part of a file's path, of a scenario's name, or a behavior ID")
    }
    guard !variants.isEmpty else { return fitting }
    let names = fitting.flatMap { $0.variants.map(\.name) }
    for name in variants where !names.contains(name) {
      throw empty(
        "no scenario has a variant `\(name)`", name, among: names,
        "the variants are: \(ModelNames.list(names))")
    }
    return fitting.compactMap { scenario in
      var scenario = scenario
      scenario.variants.removeAll { !variants.contains($0.name) }
      return scenario.variants.isEmpty ? nil : scenario
    }
  }

  private func fits(_ scenario: Scenario) -> Bool {
    guard let only else { return true }
    return scenario.path.contains(only) || scenario.name.contains(only)
      || scenario.covers.contains { $0.id == only }
  }

  private func empty(
    _ message: String, _ word: String, among known: [String], _ nextStep: String
  ) -> Empty {
    let near = NearestName.of(word, among: known).map { "; did you mean `\($0)`?" } ?? ""
    let lines = ["\(message)\(near)", nextStep].map(PrintableText.line)
    return Empty(description: lines.joined(separator: "\n"))
  }
}
