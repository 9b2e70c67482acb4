import ArgumentParser

/// The program's commands; measuring is what it does when none is named.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Measures OpenCoreData beside a C program and beside GRDB.",
    subcommands: [
      Measure.self, CheckGates.self, Profile.self, MemoryReading.self, CountReading.self,
    ], defaultSubcommand: Measure.self)
}
