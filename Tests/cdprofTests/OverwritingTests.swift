import Foundation
import Testing

@Suite("Foreign files are replaced only with --force")
struct OverwritingTests {
  private let program: BuiltProgram
  private static let own = "another program's file\n"

  init() throws {
    program = try BuiltProgram()
  }

  private func scenario(_ name: String = "tiny") throws -> String {
    try program.folder.write(
      """
      name: Tiny
      model: \(PackageFiles.model)
      data: {Continent: {count: 1}}
      steps:
        - {count: Continent}
      """, to: "\(name).yml")
  }

  /// The names of the files that a run with all report formats writes.
  private static let written = [
    "tiny.html", "tiny.json", "tiny.md", "tiny.junit.xml", "tiny.txt", "tiny.trace.json",
    "tiny.jsonl", "tiny.otlp.json", "tiny.sqlite",
  ]
  private static let formats = "html,json,md,junit,text,trace,jsonl,otlp"

  @Test(arguments: written)
  func runDoesNotReplaceForeignFiles(file: String) throws {
    _ = try scenario()
    let own = try program.folder.write(Self.own, to: "out/\(file)")
    let arguments = ["run", "tiny.yml", "--report", Self.formats, "--out", "out"]
    let rejected = try program.run(arguments)
    #expect(rejected.status == 65)
    #expect(rejected.errors.contains("out/\(file) exists and wasn't written by cdprof"))
    #expect(rejected.errors.contains("--force"))
    #expect(try String(contentsOfFile: own, encoding: .utf8) == Self.own)
    let out = program.folder.file("out").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: out) == [file], "nothing was run")
    #expect(try program.run(arguments + ["--force"]).status == 0)
    #expect(try program.run(arguments).status == 0, "its own files are replaced")
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: out)) == Set(Self.written))
  }

  /// The data isn't generated before the error, and the error is printed once.
  @Test(
    arguments: [
      ["run", "tiny.yml", "small.yml", "--out", "out"],
      ["run", "tiny.yml", "--report", "html", "--out", "out/sub", "--force"],
      ["generate", PackageFiles.model, "--out", "out"], ["new", "name", "--out", "out"],
      ["export", "tiny.yml", "--swift", "--out", "out"],
    ])
  func fileInPlaceOfAFolderIsAnError(arguments: [String]) throws {
    for name in ["tiny", "small"] { _ = try scenario(name) }
    let own = try program.folder.write(Self.own, to: "out")
    let rejected = try program.run(arguments)
    #expect(rejected.status == 65 && rejected.output.isEmpty)
    #expect(rejected.errors == "out is a file, not a folder\nwrite to another folder\n")
    #expect(try String(contentsOfFile: own, encoding: .utf8) == Self.own)
  }

  @Test func scenariosThatWouldWriteTheSameStoreDoNotRun() throws {
    let paths = [try scenario("tiny"), try scenario("tiny-scale10")]
    let rejected = try program.run(["run"] + paths + ["--scale", "1,10", "--out", "out"])
    #expect(rejected.status == 64)
    #expect(rejected.errors.contains("tiny-scale10.yml would both write tiny-scale10.sqlite"))
    #expect(!FileManager.default.fileExists(atPath: program.folder.file("out").path))
    #expect(try program.run(["run"] + paths + ["--scale", "10", "--out", "out"]).status == 0)
  }

  @Test func runDoesNotReplaceForeignStores() throws {
    _ = try scenario()
    // A store with the same model, saved by the user in the shell.
    _ = try program.run(["run", "tiny.yml", "--out", "made"])
    let copied = try program.run(
      ["shell", "made/tiny.sqlite"], input: "save store Reports/tiny.sqlite\nsave store tiny.sqlite"
    )
    #expect(copied.status == 65, "there's no folder Reports")
    try FileManager.default.createDirectory(
      at: program.folder.file("Reports"), withIntermediateDirectories: false)
    let store = program.folder.file("Reports/tiny.sqlite")
    try FileManager.default.copyItem(at: program.folder.file("tiny.sqlite"), to: store)
    // Only stores of runs have the application ID; a store from `save store` belongs to the user.
    var bytes = try Data(contentsOf: store)
    bytes.replaceSubrange(68..<72, with: [0, 0, 0, 0])
    try bytes.write(to: store)
    #expect(try program.run(["run", "tiny.yml"]).status == 65)
    #expect(try Data(contentsOf: store) == bytes)
  }

  @Test(arguments: [".tiny_SUPPORT/x", "tiny.sqlite-wal", "tiny.sqlite-journal"])
  func runDoesNotReplaceFilesOfOtherStores(file: String) throws {
    _ = try scenario()
    let own = try program.folder.write(Self.own, to: "Reports/\(file)")
    let rejected = try program.run(["run", "tiny.yml"])
    #expect(rejected.status == 65 && rejected.errors.contains("--force"))
    #expect(try String(contentsOfFile: own, encoding: .utf8) == Self.own)
  }

  @Test func otherWritingCommandsSupportForce() throws {
    _ = try scenario()
    #expect(try program.run(["run", "tiny.yml", "--report", "json", "--out", "a"]).status == 0)
    for (file, arguments) in [
      ("b/tiny.md", ["report", "a/tiny.json", "--report", "md", "--out", "b"]),
      ("b/Package.swift", ["export", "tiny.yml", "--swift", "--out", "b"]),
      ("b/new.yml", ["new", "new", "--out", "b"]),
      ("b/other.yaml", ["new", "other.yaml", "--out", "b"]),
      ("b/MoodyModel.swift", ["generate", PackageFiles.model, "--out", "b"]),
    ] {
      let own = try program.folder.write(Self.own, to: file)
      let rejected = try program.run(arguments)
      #expect(rejected.status == 65, "\(arguments)")
      #expect(rejected.errors.contains("--force"), "\(arguments)")
      #expect(try String(contentsOfFile: own, encoding: .utf8) == Self.own)
      #expect(try program.run(arguments + ["--force"]).status == 0, "\(arguments)")
      #expect(try String(contentsOfFile: own, encoding: .utf8) != Self.own)
    }
  }

  @Test func forceNeverReplacesFoldersPipesAndLinks() throws {
    _ = try scenario()
    let outcome = try program.bash(
      """
      mkdir -p Reports/tiny.html; cdprof run tiny.yml --report html --force; echo "$?"
      rmdir Reports/tiny.html; mkfifo Reports/tiny.html
      cdprof run tiny.yml --report html --force; echo "$?"
      test -p Reports/tiny.html && rm Reports/tiny.html
      echo mine > mine; ln -s ../mine Reports/tiny.html
      cdprof run tiny.yml --report html; echo "$?"; cat mine
      """)
    #expect(outcome.output == "65\n65\n65\nmine\n")
    #expect(outcome.errors.contains("it's a folder") && outcome.errors.contains("it's a pipe"))
  }

  @Test func shellOutputGoesOnlyToNewFilesOrWithForce() throws {
    _ = try scenario()
    #expect(try program.run(["run", "tiny.yml"]).status == 0)
    let store = program.folder.file("Reports/tiny.sqlite")
    let before = try Data(contentsOf: store)
    let outcome = try program.bash(
      """
      echo mine > mine; mkfifo pipe; ln Reports/tiny.sqlite hard; ln -s Reports/tiny.sqlite soft
      cdprof shell Reports/tiny.sqlite << 'END'
      output Reports/tiny.sqlite
      output Reports/tiny.sqlite force
      output hard force
      output soft force
      output Reports/tiny.sqlite-wal
      output Reports/tiny.sqlite-journal force
      save store Reports/tiny.sqlite-wal
      output pipe force
      output /dev/null force
      output Reports force
      output mine
      entities
      output mine force
      entities
      output new
      entities
      output off
      output new
      entities
      END
      echo "$?"; ls Reports; cat mine new
      """)
    #expect(try Data(contentsOf: store) == before)
    #expect(outcome.output.contains("65\ntiny.sqlite\nmine\n  Mood"))
    #expect(outcome.errors.split(separator: "\n").filter { $0.hasPrefix("line ") }.count == 11)
    let added = outcome.output.components(separatedBy: "65\ntiny.sqlite\n").last ?? ""
    #expect(added.ranges(of: "Continent ").count == 3, "three lists of entities: \(added)")
  }
}
