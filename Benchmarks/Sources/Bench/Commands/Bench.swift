import ArgumentParser

/// The program's commands.
///
/// The default is `measure`.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench", abstract: "Compare OpenCoreData with a C program and with GRDB.",
    subcommands: [
      Measure.self, CheckBaselines.self, Profile.self, MemoryReading.self, CountReading.self,
    ], defaultSubcommand: Measure.self)
}
