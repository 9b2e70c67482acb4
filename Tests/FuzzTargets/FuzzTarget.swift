import Foundation
import LogAnalysis
import ManagedModel
import OpenCoreData
import RunReports
import ScenarioFiles
import ScenarioLanguage
import StoreTools
import WorkbenchText

/// A reader of external input.
///
/// Errors are expected. A reader fails by a trap, a hang, or the memory that it uses, or if what it
/// wrote can't be read again.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// The format of a predicate, and its SQL.
  case predicate
  /// The `contents` of a model document.
  case document
  /// A compiled model.
  case mom
  /// The XML of a mapping model document.
  case mapping
  /// A compiled mapping model.
  case cdm
  /// A binary or XML property list.
  case plist
  case log
  case scenario
  /// A line of the shell.
  case line
  /// A result of `--report json`.
  case result
  /// The pages of a store.
  case store

  /// Reads an input, and writes and reads again what it contains.
  ///
  /// Errors are ignored. The process ends if what was written can't be read.
  package func read(_ bytes: [UInt8]) {
    switch self {
    case .predicate: try? Self.predicate(String(decoding: bytes, as: UTF8.self))
    case .document: try? Self.model(ModelDocument.read(data: Data(bytes), file: "contents"))
    case .mom: try? Self.model(ModelArchive.read(bytes: bytes))
    case .mapping: try? Self.mapping(bytes, "Mapping.xcmappingmodel/xcmapping.xml")
    case .cdm: try? Self.mapping(bytes, "Mapping.cdm")
    case .plist: Self.propertyList(bytes)
    case .log: try? Self.log(bytes)
    case .scenario: try? Self.scenario(String(decoding: bytes, as: UTF8.self))
    case .line: try? Self.line(String(decoding: bytes, as: UTF8.self))
    case .result: try? Self.result(bytes)
    case .store: Self.store(bytes)
    }
  }

  // MARK: Text

  /// The model with whose entity predicates are translated.
  private static let moody = NSManagedObjectModel(
    contentsOf: FuzzSeeds.repository.appendingPathComponent(
      "Scenarios/Models/Moody.xcdatamodel"))

  private static func predicate(_ text: String) throws {
    let predicate = try NSPredicate.parse(text)
    let format = predicate.predicateFormat
    // Placeholders are printed as names.
    if !text.contains("%") {
      let again = try? NSPredicate.parse(format)
      guard again?.predicateFormat == format else { fatalError("\(format) isn't parsed again") }
    }
    if let moody {
      let explanation = try PredicateExplanation(text, entity: "Mood", model: moody)
      _ = PredicateText.lines(explanation)
    }
  }

  private static func line(_ text: String) throws {
    let step = try ShellLine.parse(text, number: 1)
    _ = "\(step)"
  }

  private static func scenario(_ text: String) throws {
    let url = FuzzSeeds.repository.appendingPathComponent("Scenarios/fuzz.yml")
    do {
      _ = try ScenarioReader.read(text: text, url: url, path: "fuzz.yml")
    } catch {
      _ = "\(error)"
    }
  }

  private static func result(_ bytes: [UInt8]) throws {
    do {
      let result = try ResultFile.read(Data(bytes), path: "result.json")
      _ = try JSONReport.data(result)
      _ = try HTMLReport.page(result)
    } catch {
      _ = "\(error)"
    }
  }

  private static func log(_ bytes: [UInt8]) throws {
    let report = try LogReader.read(file(bytes, "app.log").path, tracing: true)
    _ = LogText.lines(report)
    for format in LogReportFormat.allCases { _ = try format.data(LogReportInput(report: report)) }
  }

  // MARK: Models

  private static func model(_ model: NSManagedObjectModel) throws {
    _ = ModelDocument.text(of: model)
    _ = model.entityVersionHashesByName
    _ = ModelArchive.bytes(of: model)
    _ = ModelComparison(from: model, to: model)
  }

  private static func mapping(_ bytes: [UInt8], _ name: String) throws {
    _ = try NSMappingModel.read(contentsOf: file(bytes, name))
  }

  private static func propertyList(_ bytes: [UInt8]) {
    guard let values = PropertyList.read(bytes) as? [String: Any],
      let written = try? PropertyList.write(values)
    else { return }
    guard PropertyList.read(written) is [String: Any] else {
      fatalError("a property list that was written is invalid")
    }
  }

  // MARK: Stores

  private static func store(_ bytes: [UInt8]) {
    guard let url = try? file(bytes, "Store.sqlite") else { return }
    for suffix in ["-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
    if let inspection = try? StoreInspector.inspect(url) {
      _ = InspectionText.lines(inspection)
      for name in inspection.entities.map(\.name).prefix(8) {
        let rows = try? StoreRows(url, entity: name, where: nil, limit: 100)
        try? rows?.forEachBatch { batch in
          for row in batch { _ = RowsText.lines(row) }
        }
      }
    }
    _ = try? StoreDoctor.examine(url)
  }

  // MARK: Files

  private static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("Fuzzer-\(getpid())", isDirectory: true)
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(at: FuzzTarget.folder) }
    return folder
  }()

  /// Writes an input to a file, for readers of files.
  private static func file(_ bytes: [UInt8], _ name: String) throws -> URL {
    let url = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    return url
  }
}
