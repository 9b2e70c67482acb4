import Foundation
import Testing

@Suite("The log command")
struct LogCommandTests {
  private let program: BuiltProgram

  init() throws {
    program = try BuiltProgram()
  }

  /// Writes the SQL log of a scenario to a file, and returns its path.
  private func log(_ name: String, _ arguments: String...) throws -> String {
    let run = try program.run(["run", PackageFiles.moodList, "--out", "runs"] + arguments)
    #expect(run.status == 0)
    return try program.folder.write(run.errors, to: name)
  }

  @Test func logOfARunMeetsTheScenariosExpectations() throws {
    let log = try log("run.log", "--sql", "2")
    let text = try String(contentsOfFile: log, encoding: .utf8)
    #expect(text.hasPrefix("cdprof: begin "))
    #expect(text.contains("SQLite bind[0] = <private>"))
    let evaluated = try program.run(["log", log, "--expect", PackageFiles.moodList, "--json"])
    let report = try #require(
      JSONSerialization.jsonObject(with: Data(evaluated.output.utf8)) as? [String: Any])
    #expect(evaluated.status == 0 && report["holds"] as? Bool == true)
    #expect(report["unrecognized"] as? Int == 0 && (report["missing"] as? [String]) == [])
  }

  @Test func showsBoundValuesOnRequest() throws {
    let log = try log("run.log", "--sql", "2", "--show-binds")
    #expect(!(try String(contentsOfFile: log, encoding: .utf8)).contains("<private>"))
    let hidden = try program.run(["log", log])
    let shown = try program.run(["log", log, "--show-binds"])
    #expect(!hidden.output.contains(" bound: ") && shown.output.contains(" bound: "))
  }

  @Test func folderOfTheReportIsCreated() throws {
    let log = try log("run.log", "--sql", "1")
    let page = "new/folder/log.html"
    let outcome = try program.run(["log", log, "--report", "html", "--out", page])
    #expect(outcome.status == 0 && outcome.output == "written: \(page)\n", "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: program.folder.file(page).path))
  }

  @Test func timedLogIsWrittenAsATrace() throws {
    let untimed = try log("run.log", "--sql", "1")
    let trace = ["log", "timed.log", "--report", "trace", "--out", "t.trace.json"]
    let text = try String(contentsOfFile: untimed, encoding: .utf8)
    let timed = text.split(separator: "\n").enumerated().map { line, text in
      "2026-11-27 12:00:\(10 + line % 40).000 App[7:9] \(text)\n"
    }
    _ = try program.folder.write(timed.joined(), to: "timed.log")
    for _ in 0..<2 {
      let outcome = try program.run(trace)
      #expect(outcome.status == 0 && outcome.output == "written: t.trace.json\n")
      #expect(outcome.errors.hasPrefix("not in the trace: "), "pragmas have no duration")
    }
    let written = try String(contentsOf: program.folder.file("t.trace.json"), encoding: .utf8)
    #expect(written.contains("\"name\":\"SELECT ZMOOD\"") && written.contains("timed.log:"))
    let rejected = try program.run(["log", untimed, "--report", "trace"])
    #expect(rejected.status == 65 && rejected.errors.contains("no times of day"))
    #expect(try program.run(trace + ["--follow"]).status == 64)
  }

  /// A log has the counts of the run that wrote it.
  @Test func logIsWrittenAsLines() throws {
    let log = try log("run.log", "--sql", "1", "--report", "jsonl", "--label", "release=1.4")
    for _ in 0..<2 {
      let outcome = try program.run([
        "log", log, "--report", "jsonl", "--label", "release=1.4", "--out", "log.jsonl",
      ])
      #expect(outcome.status == 0 && outcome.output == "written: log.jsonl\n", "\(outcome)")
    }
    let executions = try ["log.jsonl", "runs/mood-list.jsonl"].map { file in
      let text = try String(contentsOf: program.folder.file(file), encoding: .utf8)
      return try text.split(separator: "\n").reduce(into: [String: Int]()) { counts, line in
        let line = try #require(
          JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect((line["labels"] as? [String: String]) == ["release": "1.4"])
        guard line["statement"] as? String == "select", let count = line["executions"] as? Int,
          let sql = line["normalized"] as? String
        else { return }
        counts[sql, default: 0] += count
      }
    }
    #expect(executions[0] == executions[1] && executions[0].count > 2)
  }

  @Test(arguments: [
    ([], "--label requires --report jsonl."), (["--label", "a=2"], "two --label options"),
    (["--label", "b"], "must be KEY=VALUE"), (["--label", "b-c=1"], "must be KEY=VALUE"),
    (["--label", "1a=b"], "not `1a=b`; KEY has letters, digits, and _, and doesn't begin with"),
    (["--label", "b=" + String(repeating: "x", count: 201)], "at most 200 bytes, not 201"),
    ((0..<20).flatMap { ["--label", "a\($0)=1"] }, "At most 20 --label options"),
  ])
  func invalidLabelsAreErrors(labels: [String], message: String) throws {
    for command in [["log", "a.log"], ["run", "a.yml"], ["report", "a.json"]] {
      let format = labels.isEmpty ? ["--report", "md"] : ["--report", "jsonl"]
      let outcome = try program.run(command + format + ["--label", "a=1"] + labels)
      #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
    }
  }

  @Test func logsAreCompared() throws {
    let before = try log("before.log", "--sql", "1")
    let text = try String(contentsOfFile: before, encoding: .utf8)
    let fault = "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZMORE t0 WHERE  t0.Z_PK = ?\n"
    let worse = try program.folder.write(
      text.replacing("cdprof: end\n", with: fault + "cdprof: end\n", maxReplacements: 1),
      to: "after.log")
    let same = try program.run(["compare", before, before])
    #expect(same.status == 0 && same.output.contains("the whole log: the same counts"))
    let compared = try program.run(["compare", before, worse])
    #expect(compared.status == 2 && compared.output.contains("✗ the whole log: selects "))
    #expect(compared.output.contains("new, 1 call"))
    let allowed = try program.run(["compare", before, worse, "--fail-on", "misses"])
    #expect(allowed.status == 0)
    let json = try program.run(["run", PackageFiles.moodList, "--report", "json", "--out", "runs"])
    #expect(json.status == 0)
    let mixed = try program.run(["compare", before, "runs/mood-list.json"])
    #expect(mixed.status == 65)
    #expect(mixed.errors.contains("compare two results, or two logs"))
  }

  @Test func entitiesOfBothLogsComeFromTheModel() throws {
    let log = try log("run.log", "--sql", "1")
    let anonymous = try program.folder.write(
      String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        .filter { !$0.contains("fault fulfilled") }.joined(separator: "\n"), to: "anonymous.log")
    let page = try program.run([
      "log", anonymous, "--before", anonymous, "--model", PackageFiles.model, "--report", "md",
    ])
    #expect(page.status == 0, "\(page.errors)")
    #expect(!page.output.contains("now fires") && !page.output.contains("no longer fires"))
    let absent = try program.run(["log", log, "--before", "none.log", "--report", "md"])
    #expect(absent.status == 66 && absent.errors.contains("none.log"), "\(absent.errors)")
  }

  @Test func storeAddsPlansAndIndexAdvice() throws {
    let log = try log("run.log", "--sql", "1")
    let advised = try program.run(["log", log, "--store", "runs/mood-list.sqlite"])
    #expect(advised.status == 0)
    #expect(advised.output.contains(" tested on a copy of the store"))
    for (words, message) in [
      (["fetch Moood"], "did you mean `Mood`?\n  fetch Moood\n        ^^^^^"),
      (["fetch Mood where"], "`where` needs a predicate\n  fetch Mood where\n             ^^^^^"),
      (["--sql", "DELETE FROM ZMOOD"], "not: DELETE FROM ZMOOD\npass the SELECT"),
    ] {
      let rejected = try program.run(["advise", "runs/mood-list.sqlite"] + words)
      #expect(rejected.status == 65 && rejected.output.isEmpty)
      #expect(rejected.errors.contains(message), "\(rejected.errors)")
    }
    #expect(program.leftovers.isEmpty)
  }

  @Test func traceAndJSONLinesReportsAreReproducible() throws {
    let run = try program.run(
      ["run", PackageFiles.moodList, "--report", "json,trace,jsonl", "--out", "runs"])
    #expect(run.status == 0)
    let trace = try Data(contentsOf: program.folder.file("runs/mood-list.trace.json"))
    let object = try JSONSerialization.jsonObject(with: trace) as? [String: Any]
    #expect((object?["traceEvents"] as? [Any])?.isEmpty == false)
    for (format, file) in [("trace", "mood-list.trace.json"), ("jsonl", "mood-list.jsonl")] {
      let repeated = try program.run(["report", "runs/mood-list.json", "--report", format])
      let text = try String(contentsOf: program.folder.file("runs/\(file)"), encoding: .utf8)
      #expect(repeated.status == 0 && repeated.output == text, "\(format)")
    }
  }

  @Test(arguments: [
    ("bzip2", "bunzip2 -c", [0x42, 0x5A, 0x68, 0x39]),
    ("xz", "xz -dc", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
    ("zip", "unzip -p", [0x50, 0x4B, 0x03, 0x04]),
  ])
  func otherCompressionFormatsNameTheirCommand(
    name: String, command: String, bytes: [UInt8]
  ) throws {
    let file = program.folder.file("x.log")
    try Data(bytes + [0, 1, 2, 3, 4, 5, 6, 7]).write(to: file)
    let run = try program.run(["log", "x.log"])
    #expect(run.status == 65)
    #expect(
      run.errors == "x.log is a \(name) file\ndecompress it: `\(command) FILE | cdprof log -`\n",
      "\(run.errors)")
  }
}
