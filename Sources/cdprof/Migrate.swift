import ArgumentParser
import Foundation
import StoreTools
import WorkbenchText

/// `cdprof migrate`: rehearses the migration of a store on a copy.
struct Migrate: Executable {
  static let configuration = CommandConfiguration(
    abstract: "Rehearse the migration of a store: its SQL, what it takes, and what would be lost.",
    discussion: """
      A temporary copy is migrated. The store isn't modified, except with --in-place, which migrates it \
      if the rehearsal succeeds. Exit status: 3 if values are lost, or the migration fails.
      """)

  @Argument(help: ArgumentHelp("The store file.", valueName: "store"), completion: .file())
  var store: String

  @Option(
    name: .customLong("to"),
    help: ArgumentHelp(
      "The model to migrate to; of a folder of versions, the current one.", valueName: "model"),
    completion: .file())
  var model: String

  @Option(help: "The version of the model, instead of the current one.")
  var version: String?

  @Option(help: ArgumentHelp("A new file for the migrated copy.", valueName: "file"))
  var out: String?

  @ArgumentParser.Flag(help: "Migrate the store itself, unless the rehearsal fails.")
  var inPlace = false

  @ArgumentParser.Flag(help: "With --in-place, keep no copy of the store.")
  var noBackup = false

  @ArgumentParser.Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if inPlace, out != nil {
      throw ValidationError("--in-place and --out can't be combined; choose one.")
    }
    if noBackup, !inPlace { throw ValidationError("--no-backup requires --in-place.") }
  }

  func execute(_ console: Console) throws -> ExitStatus {
    let destination = out.map { URL(fileURLWithPath: $0) }
    if let destination, FileManager.default.fileExists(atPath: destination.path) {
      throw InvalidInputError(
        kind: .unusable, message: "\(out ?? "") exists already", nextStep: "choose another file")
    }
    let found = try FoundModel(path: model, version: version)
    console.warn(of: found.model, path: model)
    let rehearsal = try MigrationRehearsal(of: store, to: found, keepingAt: destination)
    if json {
      console.say(try MigrationJSON.data(rehearsal))
    } else {
      console.say(MigrationText.lines(rehearsal))
    }
    if inPlace, !rehearsal.isCurrent, rehearsal.isPossible {
      let kept = try rehearsal.migrateOriginal(to: found.model, keepsBackup: !noBackup)
      console.note(Messages.migrated(store, backup: kept?.path))
    }
    return rehearsal.isPreserving ? .success : .findings
  }
}
