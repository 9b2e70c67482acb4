import Foundation
import SQLiteDriver
import Testing

@Suite("Errors of standard output and files")
struct OutputTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Commands that write to standard output, given a store `s.sqlite` and a result `r/s.json`.
  private static let commands = [
    "--version", "--help", "help run", "schema", "run s.yml", "shell s.sqlite < lines",
    "report r/s.json",
    "report r/s.json --report html", "compare r/s.json r/s.json --json", "inspect s.sqlite",
    "inspect s.sqlite --json", "doctor s.sqlite", "rows s.sqlite Continent",
    "rows s.sqlite Continent --json", "model s.sqlite", "model s.sqlite --ddl",
    "diff s.sqlite s.sqlite",
    "predicate 'a == 1'", "log lines", "export s.yml --swift", "new made", "advise s.yml",
  ]

  private static let setUp = BuiltProgram.smallStore + "echo 'CoreData: sql: SELECT 1' > lines\n"

  @Test(arguments: ["secret", "a@secret", "a@secret/b", "a/b@secret"])
  func messagesContainNoPasswordOfAURL(password: String) throws {
    let outcome = try program.run(["run", "postgres://user:\(password)@host/db"])
    #expect(outcome.status == 66 && outcome.errors.contains("postgres://user:…@host/db"))
    #expect(!outcome.errors.contains("secret"), "\(outcome.errors)")
  }

  @Test func messageWithALongWordTakesLittleTime() throws {
    let path = String(repeating: "a", count: 60_000)
    let outcome = try program.run(["log", path], cpuSeconds: 20)
    #expect(outcome.status == 66)
    #expect(outcome.errors == "there's no file \(path)\ncheck the path\n")
  }

  @Test func fullStandardOutputFails() throws {
    let script = Self.commands.map { "cdprof \($0) > /dev/full 2> e; echo \"$? $(cat e)\"" }
    let outcome = try program.bash(Self.setUp + script.joined(separator: "\n"))
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == Self.commands.count, "\(outcome.errors)")
    for (command, line) in zip(Self.commands, lines) {
      #expect(
        line == "1 can't write to standard output: no space left on device", "\(command): \(line)"
      )
    }
  }

  @Test func closedStandardOutputFailsAndClosedPipeDoesNot() throws {
    let outcome = try program.bash(
      Self.setUp + """
        cdprof rows s.sqlite Continent >&-; echo "$?"
        cdprof schema | head -1 > /dev/null; echo "${PIPESTATUS[0]}"
        """)
    let status = outcome.output.split(separator: "\n")
    #expect(status.first == "1" && ["0", "141"].contains(status.last))
    #expect(outcome.errors == "can't write to standard output: bad file descriptor\n")
  }

  @Test func linesOfTheLogThatCannotBeWrittenAreLost() throws {
    let outcome = try program.bash(
      Self.setUp + """
        export CDPROF_SQL_DEBUG=1
        cdprof rows s.sqlite Continent 2> log > rows; echo "$? $(grep -c 'CoreData: sql: SELECT' log)"
        cdprof rows s.sqlite Continent 2> /dev/full | cmp - rows; echo "${PIPESTATUS[*]}"
        """)
    #expect(outcome.output.hasPrefix("0 ") && !outcome.output.hasPrefix("0 0"))
    #expect(outcome.output.hasSuffix("\n0 0\n"), "\(outcome.output)\(outcome.errors)")
  }

  @Test func filesThatExceedTheSizeLimitAreRemoved() throws {
    let outcome = try program.bash(
      Self.setUp + """
        cdprof shell s.sqlite << END > /dev/null
        save store ok.sqlite
        END
        ulimit -f 8; mkdir full; cd full
        cdprof shell ../s.sqlite << END
        save store copy.sqlite
        END
        echo "$?"; ls -A
        """)
    #expect(outcome.output.hasSuffix("65\n"), "nothing is listed: \(outcome.output)")
    #expect(outcome.errors.contains("copy.sqlite can't be written: no space left on device"))
    let copy = program.folder.file("ok.sqlite")
    #expect(try Data(contentsOf: copy) == Data(contentsOf: program.folder.file("s.sqlite")))
  }

  @Test func foundationErrorDescriptionsAreNotPrinted() throws {
    let commands = [
      "run s.yml --out /proc/x", "run s.yml --out s.yml", "run s.yml --out s.yml/x",
      "report r/s.json --report html --out /proc/x", "new made --out /proc/x",
      "export s.yml --swift --out /proc/x", "generate \(PackageFiles.model) --out /proc/x",
      "report /dev/zero", "run /dev/zero", "run /dev/null", "report /dev/null", "inspect /dev/zero",
      "log s.yml --expect /dev/zero", "compare /dev/null r/s.json", "run missing.yml",
      "report .", "compare . .", "rows . Mood", "model /dev/zero", "model /dev/null",
      "log /proc/self/mem",
      "run /proc/self/mem", "report /proc/self/mem", "generate /dev/null --out g",
    ]
    let script = commands.map { "cdprof \($0) > o 2> e; echo \"$? $(tr '\\n' ' ' < e)\"" }
    let outcome = try program.bash(Self.setUp + script.joined(separator: "\n"))
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == commands.count, "\(outcome.errors)")
    for (command, line) in zip(commands, lines) {
      #expect(!line.contains("operation could") && !line.contains("NSCocoa"), "\(command): \(line)")
      #expect(!line.contains("Error Domain") && !line.contains("CocoaError"), "\(command): \(line)")
      #expect(["1 ", "64", "65", "66"].contains(String(line.prefix(2))), "\(command): \(line)")
      #expect(line.count > 8, "\(command) has no message: \(line)")
    }
    let shell = try program.bash(
      """
      cdprof shell s.yml << END
      count Continent
      save scenario /nodir/x.yml
      save store /nodir/x
      report /nodir/x.md
      output /nodir/x
      source /nodir/x
      END
      """)
    #expect(shell.status == 65)
    #expect(shell.errors.matches(of: /(?i)no such file or directory|there's no file/).count == 5)
    #expect(!shell.errors.contains("operation could"))
  }

  @Test("Messages contain paths as they were typed")
  func relativePathsStayRelative() throws {
    let prepared = try program.bash(
      Self.setUp + """
        mkdir W.xcdatamodel N.xcdatamodel S
        echo '<model><entity name="A"><attribute name="x" attributeType="Dat"/></entity></model>' \\
          > W.xcdatamodel/contents
        cp -R '\(PackageFiles.articles)' V.xcdatamodeld
        grep -v numericISO3166Code '\(PackageFiles.model)/contents' > N.xcdatamodel/contents
        cp s.sqlite S/t.sqlite
        printf 'name: A\\nmodel: ../W.xcdatamodel\\ndata: {A: {count: 1}}\\nsteps: [count A]\\n' > S/a.yml
        printf 'name: B\\ndata: {store: t.sqlite}\\nsteps: [count Mood]\\n' > S/b.yml
        printf 'name: C\\nmodel: ../W.xcdatamodel\\ndata: {include: no.yml}\\nsteps: [count A]\\n' > S/c.yml
        """)
    #expect(prepared.status == 0, "\(prepared)")
    let store = program.folder.file("S/t.sqlite").path
    let connection = try Connection(path: store, access: .writing)
    try connection.execute("DROP TABLE Z_MODELCACHE")
    connection.close()
    for (command, message) in [
      ("model W.xcdatamodel", "W.xcdatamodel/contents:1:"),
      ("model W.xcdatamodel --check", "W.xcdatamodel/contents:1:"),
      ("model V.xcdatamodeld --version none", "V.xcdatamodeld: error: There's no version none"),
      ("model S", "S: error: The folder contains no model."),
      ("check none.yml", "there's no file none.yml\n"),
      ("generate W.xcdatamodel --out g", "W.xcdatamodel/contents:1:"),
      ("diff W.xcdatamodel W.xcdatamodel", "W.xcdatamodel/contents:1:"),
      ("predicate 'x == nil' --model W.xcdatamodel --entity A", "W.xcdatamodel/contents:1:"),
      ("new mine --store S/t.sqlite", "S/t.sqlite contains no model"),
      ("run S/a.yml", "S/../W.xcdatamodel/contents:1:"),
      ("run S/b.yml", "S/t.sqlite contains no model"),
      ("run S/c.yml", "there's no file S/no.yml"),
      ("migrate s.sqlite --to N.xcdatamodel --in-place", "with a backup at s~.sqlite\n"),
    ] {
      let outcome = try program.bash("cdprof \(command)")
      let text = outcome.output + outcome.errors
      #expect(text.contains(message), "\(command): \(text)")
      #expect(!text.contains(program.folder.url.path), "\(command): \(text)")
    }
  }

  @Test func readsPipesAndStandardInput() throws {
    let outcome = try program.bash(
      Self.setUp + """
        cdprof run - < s.yml > 1; echo "$?"; ls Reports
        cat s.yml | cdprof run - --report json --out s > 2; echo "$?"; ls s
        cdprof report - < r/s.json | grep -c 'Small'
        cdprof report <(cat r/s.json) | grep -c 'Small'
        cdprof run <(cat s.yml) --out p > /dev/null; echo "$?"
        cdprof compare r/s.json <(cat r/s.json) > 3; echo "$?"
        cdprof compare - <(cat r/s.json) < r/s.json > 4; echo "$?"
        cdprof export - --swift < s.yml > 5; echo "$?"
        cdprof log lines --expect <(cat s.yml) > 6; echo "$?"
        """)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(outcome.errors.isEmpty)
    #expect(Array(lines.prefix(5)) == ["0", "stdin.sqlite", "0", "stdin.json", "stdin.sqlite"])
    #expect(Array(lines.dropFirst(5)) == ["2", "2", "0", "0", "0", "0", "2"])
  }

  @Test("A file whose name isn't UTF-8 can't be opened, which its error explains")
  func namesThatAreNotUTF8AreExplained() throws {
    let outcome = try program.bash(
      Self.setUp + """
        mkdir n && cp s.yml n/$'\\xff.yml' && cp s.sqlite $'\\xff.sqlite'
        cdprof run n --quiet; echo "$?"
        cdprof inspect $'\\xff.sqlite'; echo "$?"
        cdprof model $'\\xff.sqlite'; echo "$?"
        rm -r n $'\\xff.sqlite'
        """)
    #expect(outcome.output == "66\n66\n66\n")
    #expect(outcome.errors.ranges(of: "rename the file or folder if its name").count == 3)
  }

  @Test("Relative paths in a pipe start at the current folder")
  func pipesStartAtTheCurrentFolder() throws {
    let outcome = try program.bash(
      Self.setUp + """
        cp -r \(PackageFiles.model) M.xcdatamodel
        cdprof run <(sed 's/^model: .*/model: M/' s.yml) --quiet --out p; echo "$?"
        cat > fetch.log << END
        cdprof: begin a
        CoreData: sql: SELECT 0, t0.Z_PK FROM ZMOOD t0
        CoreData: annotation: sql connection fetch time: 0.0001s
        CoreData: annotation: total fetch execution time: 0.0002s for 1 rows.
        cdprof: end
        END
        budget='{model: M, sections: [{name: a, expect: {selects(Mood): 1}}]}'
        cdprof log fetch.log --expect <(echo "$budget") > /dev/null; echo "$?"
        """)
    #expect(outcome.output == "0\n0\n", "\(outcome.errors)")
  }

  @Test(arguments: [
    ("remoteIdentifier MATCHES '['", "“[” isn't a regular expression: its syntax is wrong."),
    ("remoteIdentifier MATCHES '(a'", "“(a” isn't a regular expression: its syntax is wrong."),
    ("FUNCTION(latitude, 'foo:', 2) == 3", "A method can be called only in memory."),
    (
      "random() > 1",
      "A random number differs from row to row; it can be evaluated only in memory."
    ),
    ("date MATCHES 'a'", "Mood.date isn't a string, so it can't be searched in the store."),
  ])
  func untranslatablePredicatesAreInvalidInput(format: String, message: String) throws {
    let outcome = try program.bash(
      Self.setUp + "cdprof rows s.sqlite Mood --where \"\(format)\"")
    #expect(outcome.status == 65, "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.hasSuffix(": \(message)\n"), "\(outcome.errors)")
  }
}
