import ArgumentParser
import FailingFiles
import Foundation
import OpenCoreData
import Profiling
import RunReports
import SQLiteDriver
import Testing
import WorkbenchShell
import WorkbenchText

@testable import WorkbenchCommands

/// A command that writes files, whose file operations and statements fail.
///
/// The commands run in this process, because only its operations can fail.
struct CommandWork: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Returns the command for a folder.
  let command: @Sendable (URL) throws -> any Executable
  /// Changes the folder's inputs after the first run, whose outputs the attempts replace.
  var change: @Sendable (URL) throws -> Void = { _ in }
  /// Whether all runs write the same bytes.
  var isReproducible = true
  /// Whether a run replaces the files of the one before.
  var replacesFiles = true
  /// Whether the command succeeds although another process has written its files before.
  var isRepeatable = true

  static let all = [
    CommandWork(testDescription: "report") { folder in
      try Report.parse([
        folder.appendingPathComponent("tiny.json").path, "--report", "html,md,junit,jsonl",
        "--out", folder.appendingPathComponent("out").path,
      ])
    } change: { folder in
      let file = folder.appendingPathComponent("tiny.json")
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data(text.replacing("\"Tiny\"", with: "\"Small\"").utf8).write(to: file)
    },
    CommandWork(
      testDescription: "run",
      command: { folder in
        try Run.parse([
          folder.appendingPathComponent("tiny.yml").path, "--report", "html,json", "--jobs", "1",
          "--quiet", "--out", folder.appendingPathComponent("out").path,
        ])
      }, isReproducible: false),
    CommandWork(testDescription: "export") { folder in
      try Export.parse([
        folder.appendingPathComponent("tiny.yml").path, "--swift",
        "--out", folder.appendingPathComponent("out").path,
      ])
    } change: { folder in
      let file = folder.appendingPathComponent("tiny.yml")
      let text = try String(contentsOf: file, encoding: .utf8)
      try Data(text.replacing("count: 3", with: "count: 4").utf8).write(to: file)
    },
    CommandWork(
      testDescription: "baseline and history",
      command: { folder in
        try Run.parse([
          folder.appendingPathComponent("tiny.yml").path, "--jobs", "1", "--quiet",
          "--baseline", folder.appendingPathComponent("out/baseline.json").path,
          "--update-baseline", "--commit", "abc",
          "--history", folder.appendingPathComponent("out/history.jsonl").path,
        ])
      }, isReproducible: false),
    CommandWork(
      testDescription: "new",
      command: { folder in
        try New.parse([
          "first", "--force", "--out", folder.appendingPathComponent("out").path,
        ])
      }, replacesFiles: false),
    CommandWork(testDescription: "generate") { folder in
      try Generate.parse([
        PackageFiles.model, "--out", folder.appendingPathComponent("out").path,
      ])
    },
    CommandWork(
      testDescription: "migrate to a file",
      command: { folder in
        try Migrate.parse([
          folder.appendingPathComponent("Store.sqlite").path, "--to", PackageFiles.articles,
          "--out", folder.appendingPathComponent("out/New.sqlite").path,
        ])
      }, isReproducible: false, replacesFiles: false, isRepeatable: false),
    CommandWork(
      testDescription: "repair",
      command: { folder in
        try Doctor.parse([
          folder.appendingPathComponent("Store.sqlite").path,
          "--repair", folder.appendingPathComponent("out/Repaired.sqlite").path,
        ])
      }, isReproducible: false, replacesFiles: false, isRepeatable: false),
    CommandWork(
      testDescription: "save scenario",
      command: { folder in
        try ShellLines.parse([
          folder.appendingPathComponent("tiny.yml").path, "fetch Continent", "reset",
          "count Continent",
          "save scenario \(folder.appendingPathComponent("out/saved.yml").path)",
        ])
      }, replacesFiles: false, isRepeatable: false),
  ]

  /// Creates the inputs: a scenario, its result, and a store of the first version.
  func create(in folder: URL) throws {
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("out"), withIntermediateDirectories: true)
    let scenario = folder.appendingPathComponent("tiny.yml")
    try Data(
      """
      name: Tiny
      chapter: 6
      model: \(PackageFiles.model)
      data: {Continent: {count: 3}}
      steps: [{fetch: Continent}]
      variants: [{name: all, expect: {selects: 1}}]

      """.utf8
    ).write(to: scenario)
    _ = try Run.parse([scenario.path, "--report", "json", "--quiet", "--out", folder.path])
      .execute(Console())
    let versions = URL(fileURLWithPath: PackageFiles.articles)
    let names = try NSManagedObjectModel.versions(of: versions)
    let model = try NSManagedObjectModel.read(contentsOf: versions, version: names.first)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: folder.appendingPathComponent("Store.sqlite"),
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try coordinator.remove(store)
  }
}

/// The shell with a scenario, until a line fails.
struct ShellLines: Executable {
  @Argument var file: String
  @Argument var lines: [String]

  func execute(_ console: Console) throws -> WorkbenchCommands.ExitStatus {
    let engine = try ShellEngine(workspace: try ShellWorkspace(opening: file)) { _ in }
    defer { engine.close() }
    for line in lines {
      if let failure = engine.answer(to: line).failure { throw failure }
    }
    return .success
  }
}

@Suite(
  "Failing file operations of commands",
  .enabled(if: FailingFiles.isAvailable, "a sanitizer replaces file operations"), .serialized)
struct CommandFailureTests {
  @Test(arguments: CommandWork.all)
  func commandsLeaveOldOrNewFiles(work: CommandWork) throws {
    let folder = try TestFolder()
    let template = folder.file("template")
    try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
    try work.create(in: template)
    if work.replacesFiles { _ = try work.command(template).execute(Console()) }
    try work.change(template)
    let sweep = FailureSweep(copying: template, into: folder.url) { copy in
      _ = try work.command(copy).execute(Console())
    }
    let complete = try sweep.withoutFailure().folder
    let old = try Self.contents(of: template, template)
    let new = try Self.contents(of: complete, template)
    #expect(old != new || work.testDescription == "generate")
    for cause in FailingFiles.Cause.allCases {
      try sweep.run(cause) { attempt in
        let name = "\(work) \(attempt.description)"
        if let error = attempt.error {
          let failure = Failure(error)
          #expect(!failure.text.isEmpty, "\(name)")
          // A failure of the file system isn't a bug of the program.
          #expect(![.success, .internalError].contains(failure.status), "\(name): \(failure)")
        }
        let found = try Self.contents(of: attempt.folder, template)
        // A file that can't be removed is left behind.
        let removes =
          attempt.failure.isPermanent
          ? cause.kinds.contains(.remove) : attempt.report.firstFailure.hasPrefix("remove")
        if !removes {
          let unknown = Set(found.keys).subtracting(old.keys).subtracting(new.keys)
          #expect(unknown.isEmpty, "\(name): \(unknown.sorted())")
        }
        #expect(Set(old.keys).isSubset(of: found.keys), "\(name)")
        if work.isReproducible {
          for (file, content) in found where new[file] != nil {
            #expect(content == old[file] || content == new[file], "\(name): \(file)")
          }
          if attempt.error == nil { #expect(found == new, "\(name)") }
        } else {
          try Self.check(found, in: attempt.folder, name)
          for (file, content) in old where file.hasSuffix(".jsonl") {
            #expect(found[file]?.starts(with: content) == true, "\(name): \(file)")
          }
        }
        if attempt.error == nil, !work.isRepeatable {
          // SQLite has done without what failed.
          for file in new.keys where old[file] == nil {
            try FileManager.default.removeItem(at: attempt.folder.appendingPathComponent(file))
          }
        }
        // The command succeeds once nothing fails.
        #expect(throws: Never.self, "\(name)") {
          _ = try work.command(attempt.folder).execute(Console())
        }
      }
    }
  }

  /// A model can have thousands of entities.
  @Test func onlyReplacedGeneratedFilesAreSynced() throws {
    let folder = try TestFolder()
    let out = folder.file("out")
    func syncs() throws -> Int {
      let (result, report) = FailingFiles.run(below: folder.url, counting: [.sync]) {
        _ = try Generate.parse([PackageFiles.model, "--out", out.path]).execute(Console())
      }
      try result.get()
      return report.counts[.sync] ?? 0
    }
    #expect(try syncs() == 0)
    #expect(try syncs() == 0)
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: out.path).first)
    let file = out.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    try Data((text + "\n").utf8).write(to: file)
    #expect(try syncs() == 1)
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }

  /// Foundation would write the first bytes twice.
  @Test func replacedGeneratedFilesAreCompleteAfterAShortWrite() throws {
    let folder = try TestFolder()
    let out = folder.file("out")
    func generate() throws {
      _ = try Generate.parse([PackageFiles.model, "--out", out.path]).execute(Console())
    }
    try generate()
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: out.path).first)
    let file = out.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    try Data((text + "\n").utf8).write(to: file)
    try #require(chmod(file.path, 0o640) == 0)
    let (result, report) = FailingFiles.run(
      below: folder.url, failure: .init(.shortWrite, at: 1), generate)
    try result.get()
    #expect(report.failures == 1)
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
    var status = stat()
    try #require(stat(file.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o640)
  }

  /// A copy without the mark couldn't be replaced by the next run.
  @Test(arguments: [FailingFiles.Cause.readOnly, .shortWrite])
  func copiedStoresAreMarkedWhereverTheCopyFails(cause: FailingFiles.Cause) throws {
    let folder = try TestFolder()
    let template = folder.file("template")
    try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
    let store = try Connection(
      path: template.appendingPathComponent("Store.sqlite").path, access: .writing)
    try store.execute("CREATE TABLE t(a)")
    store.close()
    let sweep = FailureSweep(copying: template, into: folder.url) { copy in
      try OutputFile.copyStore(
        copy.appendingPathComponent("Store.sqlite"), to: copy.appendingPathComponent("New.sqlite"),
        marks: true, force: false)
    }
    let attempts = try sweep.run(cause, limit: .max) { attempt in
      let copy = attempt.folder.appendingPathComponent("New.sqlite")
      #expect(throws: Never.self, "\(attempt.description)") {
        try OutputFile.check(copy, force: false)
      }
    }
    #expect(attempts > 2)
  }

  /// Otherwise, it would be replaced without --force.
  @Test(arguments: [false, true])
  func anOutputWhoseAttributesCannotBeReadIsNotReplaced(isPermanent: Bool) throws {
    let folder = try TestFolder()
    let file = folder.file("notes.md")
    let own = Data("own\n".utf8)
    try own.write(to: file)
    let (result, report) = FailingFiles.run(
      below: folder.url, counting: [.status],
      failure: .init(.inputOutput, at: 1, isPermanent: isPermanent)
    ) { try OutputFile.write(Data("new\n".utf8), to: file, force: false) }
    #expect(report.failures > 0)
    #expect(throws: InvalidInputError.self) { try result.get() }
    #expect(try Data(contentsOf: file) == own)
  }

  /// Such as because the folder above it can't be searched.
  @Test(arguments: [false, true])
  func anInputThatCannotBeExaminedIsNotCalledMissing(isFile: Bool) throws {
    let folder = try TestFolder()
    let path = folder.file("a.yml").path
    try Data().write(to: folder.file("a.yml"))
    let (result, report) = FailingFiles.run(
      below: folder.url, counting: [.status],
      failure: .init(.denied, at: 1, isPermanent: true)
    ) {
      if isFile {
        try InvalidInputError.checkFile(path)
      } else {
        try InvalidInputError.checkExists(path)
      }
    }
    #expect(report.failures > 0)
    let error = #expect(throws: InvalidInputError.self) { try result.get() }
    #expect(error?.message == "\(path) can't be read: permission denied")
  }

  /// Such as because the folder above it can't be searched.
  @Test func aFolderOfANewStoreThatCannotBeExaminedIsNotMissing() throws {
    let folder = try TestFolder()
    let (result, report) = FailingFiles.run(
      below: folder.url, counting: [.status],
      failure: .init(.denied, at: 1, isPermanent: true)
    ) { try OutputFile.checkNewStore(folder.file("New.sqlite")) }
    #expect(report.failures > 0)
    let error = #expect(throws: NSError.self) { try result.get() }
    #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(EACCES))
  }

  /// Otherwise, a run would succeed without the scenarios in it.
  @Test func aSubfolderThatCannotBeReadIsNotLeftOut() throws {
    let folder = try TestFolder()
    let subfolder = folder.file("scenarios/more")
    try FileManager.default.createDirectory(at: subfolder, withIntermediateDirectories: true)
    for name in ["scenarios/a.yml", "scenarios/more/b.yml", "scenarios/more/c.yml"] {
      try Data().write(to: folder.file(name))
    }
    let list = try List.parse([folder.file("scenarios").path])
    // The folder can't be opened, or not be listed to its end.
    for number in 1...3 {
      let (result, report) = FailingFiles.run(
        below: subfolder, counting: [.list], failure: .init(.inputOutput, at: number)
      ) { try list.execute(Console()) }
      #expect(report.failures == 1, "\(number)")
      let error = #expect(throws: InvalidInputError.self, "\(number)") { try result.get() }
      #expect(error?.message.contains("scenarios/more") == true, "\(number)")
    }
  }

  /// Otherwise, the history would start again with the lines of the run.
  @Test func aHistoryWhoseAttributesCannotBeReadIsNotAMissingOne() throws {
    let folder = try TestFolder()
    let template = folder.file("template")
    try FileManager.default.createDirectory(at: template, withIntermediateDirectories: true)
    let old = Data("{\"old\":1}\n".utf8)
    try old.write(to: template.appendingPathComponent("history.jsonl"))
    let sweep = FailureSweep(copying: template, into: folder.url) { copy in
      try RunHistory.append(["{}"], to: copy.appendingPathComponent("history.jsonl"))
    }
    let attempts = try sweep.run(.inputOutput, failing: [.status], limit: .max) { attempt in
      let found = try Data(contentsOf: attempt.folder.appendingPathComponent("history.jsonl"))
      let isAsExpected = attempt.error == nil ? found == old + Data("{}\n".utf8) : found == old
      #expect(isAsExpected, "\(attempt.description)")
    }
    #expect(attempts > 2)
  }

  /// Neither invalid nor corrupt, wherever the disk fails.
  @Test(arguments: ["model", "rows", "shell", "shell --write"])
  func anInputThatCannotBeReadIsMissing(command: String) throws {
    let folder = try TestFolder()
    try CommandWork.all[0].create(in: folder.url)
    let store = folder.file("Store.sqlite")
    let entity = try #require(
      NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store).entities.first?.name)
    func work() throws {
      switch command {
      case "model": _ = try Model.parse([store.path]).execute(Console())
      case "rows": _ = try Rows.parse([store.path, entity]).execute(Console())
      default:
        let writing: ShellWorkspace.Writing = command == "shell" ? .never : .copy
        try ShellWorkspace(opening: store.path, writing: writing).close()
      }
    }
    var failures = 0
    for number in 1... {
      let (result, report) = FailingFiles.run(
        below: store, counting: [.read],
        failure: .init(.inputOutput, at: number, isPermanent: true)
      ) { () -> Failure? in
        do {
          try work()
          return nil
        } catch {
          return Failure(error)
        }
      }
      guard report.failures > 0 else { break }
      guard let failure = try result.get() else { continue }
      failures += 1
      #expect(failure.status == .missingFile, "\(number): \(failure)")
    }
    #expect(failures > 2)
  }

  /// The contents of all files by path, in which the path of the folder, and that of the template
  /// that it's a copy of, are the same.
  private static func contents(of folder: URL, _ template: URL) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let url = folder.appendingPathComponent(path)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
        continue
      }
      guard !isFolder.boolValue else { continue }
      let data = try Data(contentsOf: url)
      guard var text = String(data: data, encoding: .utf8) else {
        contents[path] = data
        continue
      }
      for url in [folder, template] { text = text.replacing(url.path, with: "FOLDER") }
      contents[path] = Data(text.utf8)
    }
    return contents
  }

  /// Checks that the files of a run, which contain times, are complete.
  private static func check(_ found: [String: Data], in folder: URL, _ name: String) throws {
    for (path, data) in found where path.hasPrefix("out/") {
      let text = String(decoding: data, as: UTF8.self)
      switch (path as NSString).pathExtension {
      case "html": #expect(text.hasSuffix("</html>\n"), "\(name): \(path)")
      case "jsonl": #expect(text.hasSuffix("}\n"), "\(name): \(path)")
      case "json":
        #expect(throws: Never.self, "\(name): \(path)") {
          try JSONSerialization.jsonObject(with: data)
        }
      case "sqlite":
        let connection = try Connection(
          path: folder.appendingPathComponent(path).path, access: .inspecting)
        defer { connection.close() }
        #expect(
          try connection.values("PRAGMA integrity_check") == [[.text("ok")]], "\(name): \(path)")
      default: break
      }
    }
  }
}
