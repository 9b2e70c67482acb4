import Foundation
import Testing

@Suite("Documentation of commands and options")
struct ProgramDocumentationTests {
  /// The output of `cdprof --experimental-dump-help`.
  private struct Help: Decodable {
    struct Command: Decodable {
      let commandName: String
      let subcommands: [Command]?
      let arguments: [Argument]?
    }

    struct Argument: Decodable {
      struct Name: Decodable {
        let kind: String
        let name: String
      }

      let kind: String
      let names: [Name]?
      let shouldDisplay: Bool?

      /// The long names, except those that ArgumentParser adds to every command.
      var options: [String] {
        (names ?? []).filter { $0.kind == "long" }.map(\.name)
          .filter { kind != "flag" || !["help", "version"].contains($0) }
      }
    }

    let command: Command
  }

  /// The synopsis of a command has all of its options; the text below it describes some of them.
  @Test func documentedCommandsAndOptionsMatchTheProgram() throws {
    let program = try program()
    let sections = try sections(of: "Documentation/cli.md")
    let commands = (program.subcommands ?? []).filter { $0.commandName != "help" }
    #expect(Set(commands.map(\.commandName)) == Set(sections.keys))
    for command in commands {
      guard let section = sections[command.commandName] else { continue }
      let options = Set(
        (command.arguments ?? []).filter { $0.shouldDisplay != false }.flatMap(\.options))
      let written = Set(section.matches(of: /`--([\w-]+)/).map { String($0.1) })
      #expect(
        written.isSubset(of: options),
        "`cdprof \(command.commandName)` doesn't have all of \(written)")
      let usage = try usage(of: command.commandName)
      #expect(
        Set(usage.matches(of: /--([\w-]+)/).map { String($0.1) }) == options,
        "the synopsis of the page: \(usage)")
    }
  }

  /// Returns the line of a command in the page's synopsis.
  private func usage(of command: String) throws -> String {
    let lines = try Repository.lines(of: "Documentation/cli.md")
    return try #require(
      lines.first { $0.hasPrefix("cdprof \(command) ") || $0 == "cdprof \(command)" })
  }

  /// Returns the text below each heading "## `cdprof NAME`".
  private func sections(of page: String) throws -> [String: String] {
    let parts = try Repository.text(of: page).components(separatedBy: "\n## ").dropFirst()
    var sections: [String: String] = [:]
    for part in parts {
      guard let heading = part.firstMatch(of: /^`cdprof (\w+)`\n/) else { continue }
      sections[String(heading.1)] = part
    }
    return sections
  }

  private func program() throws -> Help.Command {
    let output = try BuiltProgram.output(of: ["--experimental-dump-help"]).output
    return try JSONDecoder().decode(Help.self, from: output).command
  }
}
