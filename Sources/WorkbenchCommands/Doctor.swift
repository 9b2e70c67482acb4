import ArgumentParser
import Foundation
import OpenCoreData
import RunReports
import StoreTools
import WorkbenchText

/// `cdprof doctor`: checks a store without modifying any file, or recovers it into a new one.
struct Doctor: Executable {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a store for corruption, orphaned rows, invalid keys, and missing external files.",
    discussion: """
      The store and the files next to it aren't modified. With --repair, a new store is written \
      with the rows that can be recovered.

      Exit status: 3 if there are errors, including a corrupt file or model, or, with --strict, \
      any findings; 65 if the file isn't a Core Data store. A store without a model isn't an \
      error. With --repair: 3 if data is lost or assumed; 1 if the new file can't be written; 65 \
      also if there's no readable model, --model isn't the store's, the store is being written \
      to, or the new file exists; 66 if its folder doesn't.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @ArgumentParser.Flag(help: "Also exit with status 3 for warnings and notes.")
  var strict = false

  @Option(
    help: ArgumentHelp(
      "A new file for a store with the rows that can be recovered.", valueName: "out"),
    completion: .file())
  var repair: String?

  @Option(
    help: ArgumentHelp(
      "With --repair, the store's model, if the one in the store can't be read.",
      valueName: "model"),
    completion: .file())
  var model: String?

  @Option(
    help: ArgumentHelp(
      "Print Markdown instead: md, for a comment on a pull request.", valueName: "format"))
  var report: DoctorReportFormat?

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if model != nil, repair == nil { throw ValidationError("--model requires --repair.") }
    if report != nil, json { throw ValidationError("--json can't be combined with --report.") }
    guard repair != nil else { return }
    if report != nil { throw ValidationError("--report can't be combined with --repair.") }
    if strict { throw ValidationError("--strict can't be combined with --repair.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let url = URL(fileURLWithPath: store)
    if let repair { return try recover(url, to: URL(fileURLWithPath: repair), console) }
    let findings = try StoreDoctor.examine(url)
    if json {
      console.write(try DoctorJSON.data(findings))
    } else if report == .md {
      console.write(DoctorMarkdown.data(findings))
    } else {
      console.write(DoctorText.lines(findings))
    }
    return findings.fails(strictly: strict) ? .findings : .success
  }

  private func recover(_ url: URL, to destination: URL, _ console: Console) throws -> ExitStatus {
    let found = try model.map { try FoundModel(path: $0, version: nil) }
    try found?.checkIsExact()
    if let found, let model { console.warn(of: found.model, path: model) }
    let report: RepairReport
    do {
      report = try StoreRepair.repair(url, to: destination, model: found?.model)
    } catch let error as NSError
      where model != nil && error.code == NSPersistentStoreIncompatibleVersionHashError
    {
      throw Doctor.otherModel(model ?? "", error)
    }
    if json {
      console.write(try RepairJSON.data(report))
    } else {
      console.write(RepairText.lines(report))
    }
    return report.isComplete ? .success : .findings
  }

  /// Returns the error of a model that isn't the store's, which doesn't name the new file.
  private static func otherModel(_ path: String, _ error: NSError) -> InvalidInputError {
    let reason = (error.userInfo[NSUnderlyingErrorKey] as? any Error) ?? error
    return InvalidInputError(
      kind: .unusable, message: "\(path) can't be used: \(ErrorText.of(reason))",
      nextStep: "specify the version of the model that the store was created with")
  }
}

/// The value of `doctor --report`.
enum DoctorReportFormat: String, CaseIterable, ExpressibleByArgument {
  case md
}
