import Foundation
import OpenCoreData
import ScenarioLanguage
import WorkbenchText
internal import Yams

/// Finds the model of a scenario: in a `Models/` folder next to the file or one level up, at a
/// path, or in the copied store.
struct ModelLookup {
  /// The result of a lookup.
  struct Found {
    let model: NSManagedObjectModel
    /// The location of the model, or `nil` if the model was read from the store.
    let url: URL?
    /// The store to copy, if `data` specifies one.
    let store: URL?
  }

  let document: YAMLDocument
  /// The folder that contains the scenario file.
  let folder: URL

  private static let extensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom"]

  /// Returns the model, or records a problem and returns `nil` if there is none.
  func model(named entry: YAMLEntry?, data: YAMLEntry?) -> Found? {
    let path = data.flatMap { DataReader.storePath(in: $0, of: document) }
    let store = path.flatMap(storeURL)
    if let entry {
      guard let name = document.text(of: entry, wanted: "a model's name or path") else {
        return nil
      }
      guard let url = url(of: name.text) else {
        document.report(missing(name), at: entry.keyPath)
        return nil
      }
      return read(url, entry: entry, name: name, store: store)
    }
    guard let data, let store else {
      // A store that can't be used is reported already.
      guard path == nil else { return nil }
      document.report(
        LanguageProblem(
          "the scenario has no `model`", at: SourceRange(line: 1, column: 1),
          nextStep: "write `model: NAME`, with NAME.xcdatamodel in Models/ next to this file"),
        at: "model")
      return nil
    }
    return read(store, data: data)
  }

  private func storeURL(_ word: Word, _ entry: YAMLEntry) -> URL? {
    let url = folder.file(at: word.text)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
      !isFolder.boolValue
    else {
      document.report(
        LanguageProblem(
          isFolder.boolValue
            ? "`\(word.text)` is a folder, not a store" : "there's no file `\(word.text)`",
          at: word.range,
          nextStep: "use a path relative to the scenario's folder, \(folder.relativePath)"),
        at: entry.keyPath)
      return nil
    }
    return url
  }

  private func read(_ url: URL, entry: YAMLEntry, name: Word, store: URL?) -> Found? {
    do {
      return Found(model: try ModelLookup.read(url), url: url, store: store)
    } catch let errors as ModelErrors {
      report(errors.errors.filter { !$0.isWarning }, of: url, name: name, at: entry.keyPath)
    } catch {
      document.report(
        LanguageProblem(
          "the model \(url.lastPathComponent) can't be read: \(ErrorText.firstLine(of: error))",
          at: name.range,
          nextStep: "open it in Xcode, or run `cdprof inspect` on a store made with it"),
        at: entry.keyPath)
    }
    return nil
  }

  /// Records the errors of a model, each at its position in the model's document, or at the model's
  /// name in the scenario if it has none.
  private func report(_ errors: [ModelError], of url: URL, name: Word, at keyPath: String) {
    let command = "run `cdprof model \(CommandWord.quoted(url.relativePath)) --check`"
    var lines: [String: [String]] = [:]
    for error in errors {
      let subject = [error.entity, error.property].compactMap(\.self).joined(separator: ".")
      let message = [subject, ModelLookup.withoutPeriod(error.message)].filter { !$0.isEmpty }
        .joined(separator: ": ")
      let nextStep = error.nextStep.map(ModelLookup.withoutPeriod) ?? command
      guard let file = error.file, let line = error.line else {
        document.report(
          LanguageProblem(
            "the model \(url.lastPathComponent) can't be read: \(message)", at: name.range,
            nextStep: nextStep), at: keyPath)
        continue
      }
      let source = lines[file] ?? ModelLookup.lines(ofDocumentAt: file)
      lines[file] = source
      document.report(
        LanguageProblem(
          message, at: SourceRange(line: line, column: error.column ?? 1), nextStep: nextStep),
        inFile: file, at: keyPath,
        sourceLine: source.indices.contains(line - 1) ? source[line - 1] : nil)
    }
  }

  private static func withoutPeriod(_ sentence: String) -> String {
    sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
  }

  /// Returns the lines of a model's document; none if it can't be read.
  private static func lines(ofDocumentAt path: String) -> [String] {
    guard let data = try? InputFile.read(path, limit: ModelLimits.fileSize),
      let bytes = try? DocumentEncoding.utf8(data, file: path)
    else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self)
    }
  }

  private func read(_ store: URL, data: YAMLEntry) -> Found? {
    do {
      return Found(model: try ModelLookup.read(store), url: nil, store: store)
    } catch {
      document.report(
        LanguageProblem(
          "the model in \(store.lastPathComponent) can't be read: "
            + ErrorText.firstLine(of: error),
          at: data.key.range,
          nextStep: "specify a model with `model:`"), at: data.keyPath)
      return nil
    }
  }

  /// Returns the model in a document, a compiled model, or a store, without modifying any file.
  private static func read(_ url: URL) throws -> NSManagedObjectModel {
    try ModelFile.isStore(url)
      ? NSManagedObjectModel.inStore(at: url) : NSManagedObjectModel.read(contentsOf: url)
  }

  private func url(of name: String) -> URL? {
    candidates(for: name).first { FileManager.default.fileExists(atPath: $0.path) }
  }

  private func candidates(for name: String) -> [URL] {
    let given = folder.file(at: name)
    if ModelLookup.extensions.contains(given.pathExtension) { return [given] }
    return ModelLookup.extensions.flatMap { suffix in
      modelFolders.map { $0.appendingPathComponent("\(name).\(suffix)") }
        + [given.appendingPathExtension(suffix)]
    }
  }

  /// The folders that can contain models.
  ///
  /// Scenarios in several folders can share the models one level up.
  private var modelFolders: [URL] {
    [folder.appendingPathComponent("Models", isDirectory: true), folder.file(at: "../Models")]
  }

  private func missing(_ name: Word) -> LanguageProblem {
    let models = folder.appendingPathComponent("Models", isDirectory: true)
    let files = modelFolders.flatMap {
      (try? FileManager.default.contentsOfDirectory(atPath: $0.path)) ?? []
    }
    let known = Set(
      files.map { URL(fileURLWithPath: $0) }
        .filter { ModelLookup.extensions.contains($0.pathExtension) }
        .map { $0.deletingPathExtension().lastPathComponent }
    ).sorted()
    return LanguageProblem(
      "there's no model `\(name.text)`", at: name.range,
      didYouMean: NearestName.of(name.text, among: known),
      nextStep: known.isEmpty
        ? "put \(name.text).xcdatamodel in \(models.relativePath), or use a path"
        : "use one of: \(known.joined(separator: ", "))")
  }
}
