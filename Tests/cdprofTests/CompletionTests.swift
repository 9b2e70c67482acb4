import Foundation
import Testing

@Suite("Completions of the shells")
struct CompletionTests {
  private let program = try? BuiltProgram()

  /// Creates files of all kinds that commands take.
  private func folder() throws -> BuiltProgram {
    let program = try #require(program)
    for file in [
      "mood.sqlite", "mood.yml", "mood.txt", "mood.json", "folder/file.txt",
      "mood.xcdatamodeld/contents",
    ] {
      _ = try program.folder.write("", to: file)
    }
    return program
  }

  /// Returns what Bash offers for the last of the words.
  private func bash(_ words: [String], _ program: BuiltProgram) throws -> [String] {
    let script = try program.run(["--generate-completion-script", "bash"])
    #expect(script.status == 0)
    let file = try program.folder.write(script.output, to: "cdprof.bash")
    let line = (["cdprof"] + words).joined(separator: " ")
    let listed = (["cdprof"] + words).map { $0.isEmpty ? "''" : $0 }.joined(separator: " ")
    return try program.bash(
      """
      source '\(file)'; COMP_WORDS=(\(listed)); COMP_CWORD=\(words.count); COMP_LINE='\(line)'
      COMP_POINT=${#COMP_LINE}; $(complete -p cdprof | sed 's/.*-F \\([^ ]*\\).*/\\1/') cdprof \
        "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; printf '%s\\n' "${COMPREPLY[@]}"
      """
    ).output.split(separator: "\n").map(String.init)
  }

  /// The words of a command line, and the expected completion.
  @Test(arguments: [
    (["inspect", "mo"], "mood.sqlite"), (["run", "--report", "ht"], "html"),
    (["run", "--report", "html", "--out", "fol"], "folder"), (["run", "mo"], "mood.yml"),
    (["log", "--expect", "mo"], "mood.yml"), (["log", "mo"], "mood.txt"),
    (["report", "--report", "js"], "json"), (["report", "mo"], "mood.json"),
    (["run", "--fail-on", "fetch-l"], "fetch-loop"), (["generate", "--style", "ext"], "extension"),
    (["run", "--report", "html,js"], "html,json"),
    (["compare", "--fail-on", "more,sel"], "more,selects"),
    (["run", "--fail-on", "fault-storm,a"], "fault-storm,any"),
    (["predicate", "--plan", "mo"], "mood.sqlite"), (["model", "mo"], "mood.xcdatamodeld"),
    (["model", "mo"], "mood.sqlite"), (["log", "x", "--report", "m"], "md"),
  ])
  func bashCompletesFilesAndOptionValues(words: [String], offered: String) throws {
    let reply = try bash(words, try folder())
    #expect(reply.contains { $0.hasPrefix(offered) }, "\(reply)")
  }

  @Test func filesOfAnotherKindArentOffered() throws {
    let program = try folder()
    #expect(try bash(["doctor", "mo"], program) == ["mood.sqlite", "mood.xcdatamodeld"])
    #expect(try bash(["run", "mo"], program) == ["mood.yml", "mood.xcdatamodeld"])
  }

  @Test func namesInTheFilesOnTheCommandLineAreOffered() throws {
    let program = try folder()
    let scenario = try program.folder.write(
      try String(contentsOfFile: PackageFiles.moodList, encoding: .utf8), to: "a b.yml")
    try FileManager.default.copyItem(
      at: URL(filePath: PackageFiles.model).deletingLastPathComponent(),
      to: program.folder.file("Models"))
    #expect(try program.run(["run", scenario, "--quiet", "--force"]).status == 0)
    let store = "Reports/a\\ b.sqlite"
    let entities = try bash(["rows", store, ""], program)
    #expect(entities.contains("Mood") && entities.contains("Country"), "\(entities)")
    #expect(try bash(["rows", "'Reports/a b.sqlite'", "Moo"], program) == ["Mood"])
    let model = PackageFiles.model
    #expect(
      try bash(["predicate", "x", "--model", model, "--entity", "Countr"], program) == ["Country"])
    let versions = PackageFiles.model.replacing("Moody.xcdatamodel", with: "Orders.xcdatamodeld")
    #expect(try bash(["model", versions, "--version", "Orders"], program).count == 4)
    #expect(
      try bash(["migrate", store, "--to", versions, "--version", "Orders"], program).count == 4)
    #expect(try bash(["run", "a\\ b.yml", "--variant", ""], program).count > 1)
    #expect(try bash(["rows", "mood.sqlite", ""], program).isEmpty)
  }

  /// Bash expands the words that it's offered, so a name in a file could run a command.
  @Test func namesThatBashWouldExpandArentOffered() throws {
    let program = try folder()
    let text = try String(contentsOfFile: program.smallFaults(), encoding: .utf8)
    let variant = "  - name: realized\n"
    _ = try program.folder.write(
      text.replacing(variant, with: "  - name: \"$(touch expanded)\"\n\(variant)"), to: "b.yml")
    let offered = try bash(["run", "b.yml", "--variant", ""], program)
    #expect(offered.contains("realized") && offered.contains("fault storm"), "\(offered)")
    #expect(!offered.contains { $0.contains("touch") }, "\(offered)")
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("expanded").path))
  }

  @Test(.enabled(if: Tool.exists("zsh")))
  func zshReadsItsCompletions() throws {
    let program = try #require(program)
    let script = try program.run(["--generate-completion-script", "zsh"]).output
    let file = try program.folder.write(script, to: "_cdprof")
    let outcome = try program.bash("zsh -n '\(file)'")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
  }

  @Test(.enabled(if: Tool.exists("fish")))
  func fishCompletesFiles() throws {
    let program = try folder()
    let script = try program.run(["--generate-completion-script", "fish"]).output
    let file = try program.folder.write(script, to: "cdprof.fish")
    let outcome = try program.bash(
      "fish -c \"source '\(file)'; complete -C 'cdprof inspect mo'\"")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(outcome.output.contains("mood.sqlite") && !outcome.output.contains("mood.txt"))
  }
}
