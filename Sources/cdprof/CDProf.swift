import ArgumentParser

/// The program and its commands.
struct CDProf: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cdprof",
    abstract: "Profiles Core Data on Linux: what a fetch, a fault or a save costs, with its SQL.",
    discussion: Messages.discussion,
    version: Messages.version,
    subcommands: [
      New.self, Run.self, Shell.self, Report.self, Compare.self, Advise.self, Inspect.self,
      Doctor.self, Rows.self, Model.self, Diff.self, Generate.self, Predicate.self, Log.self,
      Schema.self, Export.self,
    ])
}
