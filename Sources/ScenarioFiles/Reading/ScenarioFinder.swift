import Foundation
import OpenCoreData
package import ScenarioLanguage
import WorkbenchText

/// Finds scenario files by path or in a folder.
package enum ScenarioFinder {
  /// A scenario file.
  package struct Found: Sendable, Hashable {
    /// The path as it was given, or relative to the given folder.
    package var path: String
    /// The name of the scenario's reports: the path in the folder, without its extension.
    package var name: String
  }

  /// Returns the scenario files at a path, sorted by path.
  ///
  /// If the path is a folder, returns the files in it and in its subfolders whose extension is
  /// `.yml` or `.yaml`. Hidden files are ignored, and so is data that other files there include.
  ///
  /// **Cost:** reads all files of a folder.
  ///
  /// - Throws: `InvalidInputError` if the path doesn't exist, or if a folder can't be read or
  ///   doesn't contain scenarios.
  package static func files(at path: String) throws -> [Found] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else {
      try InputFile.check(path)
      return [named(path)]
    }
    let folder = path.hasSuffix("/") ? path : "\(path)/"
    let all = try contents(of: path).filter(isScenario).sorted()
    let shared = sharedData(among: all, in: folder)
    let found = all.filter { !shared.contains($0) }
    guard !found.isEmpty else {
      throw InvalidInputError(
        kind: .missing, message: "there are no scenarios in the folder \(path)",
        nextStep: "create one with `cdprof new NAME`, or use another folder")
    }
    return found.map { Found(path: folder + $0, name: baseName($0)) }
  }

  /// Returns the paths of all that's in a folder and its subfolders, without the folder, except for
  /// what's hidden.
  ///
  /// Links to folders aren't followed.
  ///
  /// - Throws: An `InvalidInputError` if a folder can't be read: it can contain scenarios.
  private static func contents(of folder: String) throws(InvalidInputError) -> [String] {
    var contents: [String] = []
    var prefixes = [""]
    while let prefix = prefixes.popLast() {
      for name in try InputFile.names(in: "\(folder)/\(prefix)") where !name.hasPrefix(".") {
        contents.append(prefix + name)
        if try isFolder("\(folder)/\(prefix)\(name)") { prefixes.append("\(prefix)\(name)/") }
      }
    }
    return contents
  }

  /// Returns whether a path is that of a folder, and not of a link to one.
  private static func isFolder(_ path: String) throws(InvalidInputError) -> Bool {
    var info = stat()
    if lstat(path, &info) == 0 { return info.st_mode & S_IFMT == S_IFDIR }
    // It has been removed, or its name isn't valid UTF-8.
    guard errno == ENOENT else { throw InputFile.error(path, errno) }
    return false
  }

  /// Returns the paths of the scenarios directly in a folder, sorted, without the folder.
  ///
  /// Other YAML files, which contain neither the key `steps` nor `variants`, aren't scenarios.
  package static func scenarios(directlyIn folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { name in
      guard !name.hasPrefix("."), isScenario(name),
        let data = try? InputFile.read("\(folder)/\(name)", limit: InputLimits.scenarioSize)
      else { return false }
      return hasSteps(String(decoding: data, as: UTF8.self))
    }
    .sorted()
  }

  private static func hasSteps(_ text: String) -> Bool {
    text.split(whereSeparator: \.isNewline)
      .contains { $0.hasPrefix("steps:") || $0.hasPrefix("variants:") }
  }

  /// Returns the files of a folder that others in it include, and that have no steps.
  private static func sharedData(among files: [String], in folder: String) -> Set<String> {
    let urls = files.map { URL(fileURLWithPath: folder + $0).standardizedFileURL }
    let texts = urls.map { text(of: $0) }
    let included = Set(
      zip(urls, texts).flatMap { url, text in
        inclusions(in: text).map { url.deletingLastPathComponent().file(at: $0).path }
      })
    return Set(
      files.indices.filter { position in
        included.contains(urls[position].path)
          && !hasSteps(String(decoding: texts[position], as: UTF8.self))
      }
      .map { files[$0] })
  }

  /// Returns the contents of a regular file, or no bytes if it can't be read.
  ///
  /// What's read from a pipe couldn't be read again.
  private static func text(of url: URL) -> Data {
    guard let mode = FileKind.mode(of: url.path, followingLinks: true), FileKind.isRegular(mode),
      let data = try? InputFile.read(url.path, limit: InputLimits.scenarioSize)
    else { return Data() }
    return data
  }

  /// Returns the paths that follow the key `include` in a text.
  ///
  /// `--watch` reads a folder several times a second, so this method searches bytes, not lines.
  private static func inclusions(in text: Data) -> [String] {
    let key = Data("\(DataReader.inclusion):".utf8)
    var paths: [String] = []
    var rest = text
    while let found = rest.range(of: key) {
      rest = rest[found.upperBound...]
      let word = rest.prefix { !",}#\r\n".utf8.contains($0) }
      let path = String(decoding: word, as: UTF8.self)
        .trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
      if !path.isEmpty { paths.append(path) }
    }
    return paths
  }

  private static func isScenario(_ file: String) -> Bool {
    ["yml", "yaml"].contains((file as NSString).pathExtension.lowercased())
  }

  /// Returns the scenario file for a path, without checking that it exists.
  package static func named(_ path: String) -> Found {
    guard path != InputFile.standardInput else {
      return Found(path: path, name: Scenario.standardInputName)
    }
    return Found(path: path, name: baseName((path as NSString).lastPathComponent))
  }

  private static func baseName(_ path: String) -> String {
    (path as NSString).deletingPathExtension
  }
}

/// The selection of scenarios and variants to run.
package struct ScenarioChoice: Sendable {
  /// A part of the file's path or of the scenario's name, or a behavior ID that the scenario
  /// covers.
  ///
  /// If `nil`, all scenarios are selected.
  package var only: String?
  /// The names of the selected variants.
  ///
  /// If empty, all variants are selected.
  package var variants: [String]

  package init(only: String? = nil, variants: [String] = []) {
    self.only = only
    self.variants = variants
  }

  /// An error for a selection that is empty.
  package struct Empty: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// Creates an error that suggests a similar name.
    ///
    /// - Parameters:
    ///   - message: The first line: what's missing.
    ///   - word: The name that doesn't match.
    ///   - known: The names that would.
    ///   - nextStep: The second line.
    init(_ message: String, _ word: String, among known: [String], _ nextStep: String) {
      let question = NearestName.question(for: word, among: known)
      description = ["\(message)\(question)", nextStep].map(PrintableText.line)
        .joined(separator: "\n")
    }
  }

  /// Returns the selected scenarios with their selected variants, in their original order.
  ///
  /// - Throws: `Empty` if no scenario matches, or if a variant doesn't exist in any scenario.
  package func scenarios(of all: [Scenario]) throws(Empty) -> [Scenario] {
    let fitting = all.filter(fits)
    if let only, fitting.isEmpty {
      throw Empty(
        "no scenario matches `\(only)`", only, among: all.map(\.fileName) + all.map(\.name),
        "use a part of a file's path or a scenario's name, or a behavior ID")
    }
    guard !variants.isEmpty else { return fitting }
    let names = fitting.flatMap { $0.variants.map(\.name) }
    for name in variants where !names.contains(name) {
      throw Empty(
        "no scenario has a variant `\(name)`", name, among: names,
        "use one of: \(ModelNames.list(names))")
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
}
