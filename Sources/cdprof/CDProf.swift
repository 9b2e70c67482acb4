import ArgumentParser

/// The program and its commands.
struct CDProf: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdprof",
    abstract:
      "Profile Core Data on Linux: the SQL, rows, and time behind every fetch, fault, and save.",
    discussion: Messages.discussion,
    version: Messages.version,
    subcommands: [
      New.self, Run.self, Shell.self, Report.self, Compare.self, Advise.self, Inspect.self,
      Doctor.self, Rows.self, Model.self, Diff.self, Migrate.self, Generate.self, Predicate.self,
      Log.self,
      Schema.self, Export.self,
    ])
}
