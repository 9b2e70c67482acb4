import Foundation
import Testing

@Suite("Installation")
struct InstallationTests {
  private let program = try? BuiltProgram()
  private let prefix = "/opt/cdprof"

  /// The folder that takes the place of `/`.
  private func root(_ program: BuiltProgram) -> URL { program.folder.file("root") }

  /// Runs the script that `make install` runs, with the program that was built with these tests.
  private func install(_ program: BuiltProgram) throws {
    let built = URL(filePath: program.path).deletingLastPathComponent().path
    let outcome = try script([built, prefix, root(program).path], program)
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  private func script(
    _ arguments: [String], _ program: BuiltProgram
  ) throws -> BuiltProgram.Outcome {
    let words = [PackageFiles.scripts + "/install.sh"] + arguments
    return try program.bash("sh " + words.map { "'\($0)'" }.joined(separator: " "))
  }

  /// Returns the paths of all files below the prefix, relative to it.
  private func files(_ program: BuiltProgram) -> Set<String> {
    let top = root(program).path + prefix
    let found = FileManager.default.enumerator(atPath: top)?.compactMap { $0 as? String } ?? []
    return Set(
      found.filter { path in
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(
          atPath: "\(top)/\(path)", isDirectory: &isFolder)
        return exists && !isFolder.boolValue
      })
  }

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

      let names: [Name]?
      let valueName: String?
      let shouldDisplay: Bool?
    }

    let command: Command
  }

  @Test func everyFileHasItsPlaceAndIsRemovedAgain() throws {
    let program = try #require(program)
    try install(program)
    let first = files(program)
    #expect(
      first.isSuperset(of: [
        "bin/cdprof", "lib/cdprof/cdprof", "lib/cdprof/libFoundation.so", "share/man/man1/cdprof.1",
        "share/man/man1/cdprof-run.1",
        "share/bash-completion/completions/cdprof", "share/zsh/site-functions/_cdprof",
        "share/fish/vendor_completions.d/cdprof.fish", "share/doc/cdprof/LICENSE",
        "share/doc/cdprof/licenses/Yams.txt", "share/cdprof/installed-files",
        "share/cdprof/Scenarios/Models/Orders.xcdatamodeld/.xccurrentversion",
      ]))
    #expect(first.isSuperset(of: PackageFiles.scenarios.map { "share/cdprof/Scenarios/\($0)" }))

    // An update removes a file that's no longer installed, and leaves the user's own.
    let list = root(program).appending(path: "\(prefix)/share/cdprof/installed-files")
    let old = "share/man/man1/cdprof-old.1"
    let own = "share/cdprof/Scenarios/own.yml"
    for file in [old, own] {
      _ = try program.folder.write("", to: "root\(prefix)/\(file)")
    }
    try (String(contentsOf: list, encoding: .utf8) + old + "\n")
      .write(to: list, atomically: true, encoding: .utf8)
    try install(program)
    #expect(files(program) == first.union([own]))

    #expect(try script(["--remove", prefix, root(program).path], program).status == 0)
    #expect(files(program) == [own])
    let again = try script(["--remove", prefix, root(program).path], program)
    #expect(again.status == 1 && again.errors.contains("isn't installed in"))
  }

  @Test("The libraries of Swift are installed from a folder whose path contains spaces")
  func librariesBelowAPathWithSpacesAreInstalled() throws {
    let program = try #require(program)
    let library = try program.folder.write("", to: "my swift/usr/lib/swift/linux/libOwn.so")
    let line = "\\tlibOwn.so => %s (0x00007fe6d6326000)\\n"
    let ldd = try program.folder.write(
      "#!/bin/sh\nprintf '\(line)' '\(library)'\n", to: "fake/ldd")
    let built = URL(filePath: program.path).deletingLastPathComponent().path
    let outcome = try program.bash(
      "chmod +x '\(ldd)'; PATH=\"$PWD/fake:$PATH\" sh '\(PackageFiles.scripts)/install.sh' "
        + "'\(built)' '\(prefix)' '\(root(program).path)'")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(files(program).contains("lib/cdprof/libOwn.so"))
  }

  @Test func interruptedInstallationCanBeRemoved() throws {
    let program = try #require(program)
    let own = "share/man"
    _ = try program.folder.write("", to: "root\(prefix)/\(own)")
    let built = URL(filePath: program.path).deletingLastPathComponent().path
    let outcome = try script([built, prefix, root(program).path], program)
    #expect(outcome.status != 0 && files(program).contains("lib/cdprof/cdprof"))
    #expect(try script(["--remove", prefix, root(program).path], program).status == 0)
    #expect(files(program) == [own])
  }

  @Test(.enabled(if: Tool.exists("strip")))
  func incompleteArchiveIsNotWritten() throws {
    let program = try #require(program)
    let built = URL(filePath: program.path).deletingLastPathComponent().path
    let output = program.folder.file("dist").path
    let outcome = try program.bash(
      "SOURCE_DATE_EPOCH=nonsense sh '\(PackageFiles.scripts)/dist.sh' '\(built)' '\(output)'")
    #expect(outcome.status != 0 && !FileManager.default.fileExists(atPath: output))
  }

  @Test func installedProgramRunsAnInstalledScenarioElsewhere() throws {
    let program = try #require(program)
    try install(program)
    let top = root(program).path + prefix
    let outcome = try program.bash(
      "'\(top)/bin/cdprof' run '\(top)/share/cdprof/Scenarios/faults.yml' --report html")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let page = program.folder.file("Reports/faults.html").path
    #expect(FileManager.default.fileExists(atPath: page))
    let list = try program.bash("'\(top)/bin/cdprof' list").output
    #expect(list.contains("share/cdprof/Scenarios\n\nChapter 6\n"))
    #expect(list.hasSuffix("\n\(PackageFiles.scenarios.count) scenarios\n"))
  }

  @Test func everyOptionIsInItsManPage() throws {
    let program = try #require(program)
    try install(program)
    let output = try program.run(["--experimental-dump-help"]).output
    let help = try JSONDecoder().decode(Help.self, from: Data(output.utf8)).command
    let commands = (help.subcommands ?? []).filter { $0.commandName != "help" }
    #expect(commands.count > 15)
    let folder = root(program).appending(path: "\(prefix)/share/man/man1")
    for command in commands {
      let page = try String(
        contentsOf: folder.appending(path: "cdprof-\(command.commandName).1"), encoding: .utf8)
      for argument in (command.arguments ?? []) where argument.shouldDisplay != false {
        let name = argument.names?.first.map { ($0.kind == "long" ? "--" : "-") + $0.name }
        let term =
          name.map { "\n.TP\n\\fB\($0.replacing("-", with: "\\-"))\\fR" }
          ?? "\n.TP\n\((argument.valueName ?? "").uppercased())"
        #expect(page.contains(term), "\(command.commandName): \(term)")
      }
      // A command's option `--version NAME` replaces the program's flag.
      let terms = page.components(separatedBy: "\n.TP\n").dropFirst().map { item in
        item.prefix { $0 != "\n" }
      }
      let names = terms.flatMap { $0.matches(of: /\\fB(\\-[^ ]+?)\\fR/).map { String($0.1) } }
      #expect(Set(names).count == names.count, "\(command.commandName): \(names)")
      for part in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
        #expect(page.contains("\n.SH \"\(part)\"\n"), "\(command.commandName)")
      }
    }
    let main = try String(contentsOf: folder.appending(path: "cdprof.1"), encoding: .utf8)
    for command in commands {
      #expect(main.contains("\n\\fBcdprof\\-\(command.commandName)\\fR(1)\n"))
    }
    #expect(main.contains(".TP\n\\fB66\\fR\n") && main.contains(".TP\n\\fBNO_COLOR\\fR\n"))
  }

  @Test(.enabled(if: Tool.exists("groff")))
  func manPagesFormatWithoutWarnings() throws {
    let program = try #require(program)
    try install(program)
    let folder = root(program).appending(path: "\(prefix)/share/man/man1").path
    let outcome = try program.bash(
      "for page in '\(folder)'/*; do groff -man -Tutf8 -Kutf8 -ww -P-cbou \"$page\"; done")
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(outcome.output.contains("cdprof run FILE|DIR|-... [--only TEXT]"))
    #expect(outcome.output.contains("Write reports in these formats, separated by commas:"))
    #expect(!outcome.output.contains("`"))
  }
}
