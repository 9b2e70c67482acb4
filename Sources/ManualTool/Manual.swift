/// The man pages of a program: one for the program, and one for each command.
struct Manual {
  /// A page in the macros of man(7), and the name of its file.
  struct Page {
    let name: String
    let text: String
  }

  let program: ProgramHelp.Command
  let version: String
  let reference: CommandReference

  /// Returns the pages.
  ///
  /// - Throws: `CommandReference.Missing` if the reference doesn't describe a command.
  func pages() throws(CommandReference.Missing) -> [Page] {
    var pages = [try programPage()]
    for command in program.displayedCommands { pages.append(try page(of: command)) }
    return pages
  }

  private func programPage() throws(CommandReference.Missing) -> Page {
    let name = program.commandName
    let commands = program.displayedCommands
    var text = ManualText(title: name, source: "\(name) \(version)")
    text.name(name, program.abstract)
    text.section("SYNOPSIS")
    text.synopsis("\(name) COMMAND [ARGUMENT …]")
    text.section("DESCRIPTION")
    text.verbatim(program.discussion ?? "")
    text.section("COMMANDS")
    for command in commands {
      text.item("**\(name)-\(command.commandName)**(1)", command.abstract ?? "")
    }
    text.section("OPTIONS")
    for argument in program.displayedArguments { text.argument(argument) }
    text.section("EXIT STATUS")
    for row in try reference.table(below: "Exit status") {
      text.item("**\(row.name)**", row.meaning)
    }
    text.section("ENVIRONMENT AND FILES")
    for row in try reference.table(below: "Environment and files") {
      text.item(row.name, row.meaning)
    }
    text.section("SEE ALSO")
    text.references(commands.map { "\(name)-\($0.commandName)" })
    return Page(name: "\(name).1", text: text.text)
  }

  private func page(of command: ProgramHelp.Command) throws(CommandReference.Missing) -> Page {
    let words = "\(program.commandName) \(command.commandName)"
    let name = "\(program.commandName)-\(command.commandName)"
    var text = ManualText(title: name, source: "\(program.commandName) \(version)")
    text.name(name, command.abstract)
    text.section("SYNOPSIS")
    text.synopsis(try reference.synopsis(of: words))
    if let description = command.description {
      text.section("DESCRIPTION")
      text.paragraphs(description)
    }
    let arguments = command.displayedArguments
    let positional = arguments.filter { $0.kind == .positional }
    if !positional.isEmpty {
      text.section("ARGUMENTS")
      for argument in positional { text.argument(argument) }
    }
    text.section("OPTIONS")
    for argument in arguments where argument.kind != .positional { text.argument(argument) }
    text.section("EXIT STATUS")
    if let status = command.exitStatus { text.paragraphs(status) }
    text.paragraphs("For the statuses of all commands, see **\(program.commandName)**(1).")
    text.section("SEE ALSO")
    text.references([program.commandName])
    return Page(name: "\(name).1", text: text.text)
  }
}
