import ArgumentParser
import Foundation
import MigrationTools
import RunReports
import StoreTools
import WorkbenchText

/// `cdprof migrate`: rehearses the migration of a store on a copy.
struct Migrate: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Rehearse a store's migration: its SQL, its cost, and the data that would be lost.",
    discussion: """
      A temporary copy is migrated: with a mapping model between the two versions, or else an \
      inferred one, or else version by version, using the model's folder. The store isn't \
      modified, except with --in-place, which migrates it if the rehearsal succeeds.

      Exit status: 0 if everything is preserved, 3 if values are lost, the migration is refused \
      or fails, or `cdprof doctor` finds more than before; 65 if the version of the store is \
      unknown, a version lacks the configuration that the store was made with, a mapping model \
      can't be used, or the file of --out exists; 66 if its folder doesn't, or a file can't be read.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .stores)
  var store: String

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "The model to migrate to; for a folder of versions, the current one.", valueName: "model"),
    completion: .models)
  var model: String

  @Option(help: "The version of the model, instead of the current one.", completion: .versions)
  var version: String?

  @Option(
    help: ArgumentHelp(
      "A mapping model, which is used before those in the model's folder and next to it. Repeatable.",
      valueName: "file"), completion: .mappings)
  var mapping: [String] = []

  @ArgumentParser.Flag(help: "Migrate version by version, even if a direct migration is possible.")
  var progressive = false

  @Option(help: ArgumentHelp("A new file for the migrated copy.", valueName: "file"))
  var out: String?

  @ArgumentParser.Flag(help: "Migrate the store itself, unless the rehearsal fails.")
  var inPlace = false

  @ArgumentParser.Flag(help: "With --in-place, keep no copy of the store.")
  var noBackup = false

  @Option(
    help: ArgumentHelp(
      """
      Also migrate copies in which each object exists this many times, separated by commas, to \
      measure how the time grows; 1 for none.
      """, valueName: "n,…"))
  var sizes: ScaleList?

  @ArgumentParser.Flag(help: "Print some of the duplicate values of a new uniqueness constraint.")
  var showValues = false

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  /// The formats of `--report`.
  enum ReportChoice: String, CaseIterable, ExpressibleByArgument {
    case html
  }

  @Option(help: ArgumentHelp("Also write a page: html.", valueName: "format"))
  var report: ReportChoice?

  /// The default of `--report-dir`.
  private static let reports = "Reports"

  @Option(
    help: ArgumentHelp("The folder for the page.", valueName: "dir"), completion: .directory)
  var reportDir = Migrate.reports

  @ArgumentParser.Flag(help: "Replace a page that cdprof didn't write.")
  var force = false

  func validate() throws {
    if inPlace, out != nil {
      throw ValidationError("--in-place and --out can't be combined; choose one.")
    }
    if noBackup, !inPlace { throw ValidationError("--no-backup requires --in-place.") }
    if reportDir != Migrate.reports, report == nil {
      throw ValidationError("--report-dir requires --report.")
    }
    let factors = sizes?.scales ?? []
    let problems = factors.map { Messages.outOfRange("--sizes", $0, upTo: InputLimits.scale) }
    if let problem = problems.compactMap(\.self).first { throw ValidationError(problem) }
    guard factors.count <= InputLimits.scales else {
      throw ValidationError("--sizes takes at most \(InputLimits.scales) values.")
    }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let folder = URL(fileURLWithPath: reportDir, isDirectory: true)
    let rehearsal: MigrationRehearsal
    do {
      rehearsal = try rehearse(reportingTo: folder, console)
    } catch let error where json {
      console.endProgress()
      let reason = Secrets.hidden(in: Failure(error).text)
      console.write(
        try MigrationJSON.data(
          refusing: URL(fileURLWithPath: store), to: version ?? model, reason))
      throw error
    }
    console.endProgress()
    if json {
      console.write(try MigrationJSON.data(rehearsal, showsValues: showValues))
    } else {
      console.write(MigrationText.lines(rehearsal, showsValues: showValues))
    }
    if report != nil {
      let page = try MigrationReport.write(
        rehearsal, in: folder, command: command, showsValues: showValues, force: force)
      console.writeMessage(Messages.written([page.relativePath]))
    }
    if inPlace, rehearsal.hasNewErrors {
      console.writeMessage(Messages.notMigrated(store))
    } else if inPlace, !rehearsal.isCurrent, rehearsal.isPossible {
      let kept = try rehearsal.migrateOriginal(keepsBackup: !noBackup)
      console.writeMessage(Messages.migrated(store, backup: kept?.relativePath))
    }
    return rehearsal.isPreserving ? .success : .findings
  }

  /// Checks the files to write, and rehearses the migration.
  private func rehearse(
    reportingTo folder: URL, _ console: Console
  ) throws -> MigrationRehearsal {
    let destination = out.map { URL(fileURLWithPath: $0) }
    if let destination { try OutputFile.checkNewStore(destination) }
    if report != nil {
      try OutputFile.check(
        MigrationReport.url(for: URL(fileURLWithPath: store), in: folder), force: force)
    }
    let found = try FoundModel(path: model, version: version)
    try found.checkIsExact()
    console.warn(of: found.model, path: model)
    let route = try MigrationRoute(
      of: store, to: found, mappings: mapping, isProgressive: progressive)
    // Who migrates a store has rehearsed it.
    let factors = sizes.map { $0.scales.filter { $0 > 1 } } ?? (inPlace ? [] : nil)
    return try MigrationRehearsal(
      route,
      MigrationRehearsal.Options(
        destination: destination, factors: factors, progress: console.progress))
  }

  /// The command that repeats the rehearsal, without its outputs.
  private var command: String {
    var words = ["cdprof", "migrate", store, "--to", model]
    if let version { words += ["--version", version] }
    for file in mapping { words += ["--mapping", file] }
    if progressive { words.append("--progressive") }
    if let sizes { words += ["--sizes", sizes.scales.map(String.init).joined(separator: ",")] }
    return words.map(CommandWord.quoted).joined(separator: " ")
  }
}
