/// The commands of a program, as `--experimental-dump-help` prints them.
struct ProgramHelp: Decodable {
  /// A command, or the program itself.
  struct Command: Decodable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [Command]?
    let arguments: [Argument]?
    private let shouldDisplay: Bool?

    /// The discussion without its paragraph on exit statuses; `nil` if there's no other.
    var description: String? {
      let paragraphs = paragraphs.filter { !$0.hasPrefix(Self.exitStatus) }
      return paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n\n")
    }

    /// The paragraph "Exit status: …" of the discussion, without these words.
    var exitStatus: String? {
      paragraphs.first { $0.hasPrefix(Self.exitStatus) }.map {
        String($0.dropFirst(Self.exitStatus.count))
      }
    }

    private static let exitStatus = "Exit status: "

    private var paragraphs: [String] {
      (discussion ?? "").split(separator: "\n\n").map(String.init)
    }

    /// The commands that help lists, without `help`.
    var displayedCommands: [Command] {
      (subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    /// The arguments that help lists, without a flag that an option with a value replaces.
    ///
    /// In a command with an option `--version NAME`, the program's flag `--version` has no effect.
    var displayedArguments: [Argument] {
      let displayed = (arguments ?? []).filter { $0.shouldDisplay != false }
      let options = Set(
        displayed.filter { $0.kind == .option }.flatMap { $0.names ?? [] }.map(\.text))
      return displayed.filter { argument in
        argument.kind != .flag
          || argument.names?.contains { options.contains($0.text) } != true
      }
    }
  }

  /// A positional argument, an option with a value, or a flag.
  struct Argument: Decodable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    struct Name: Decodable {
      let kind: String
      let name: String

      /// The name as it's typed: `--json`, `-h`.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: Kind
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let defaultValue: String?
    let allValues: [String]?
    fileprivate let shouldDisplay: Bool?
  }

  let command: Command
}
