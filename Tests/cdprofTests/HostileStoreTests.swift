import Foundation
import OpenCoreData
import SQLiteDriver
import Testing

@Suite("Hostile files")
struct HostileStoreTests {
  private let program: BuiltProgram
  private let store: String

  init() throws {
    program = try BuiltProgram()
    store = program.folder.file("store.sqlite").path
    let tag = NSEntityDescription()
    tag.name = "Tag"
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    tag.properties = [name]
    let model = NSManagedObjectModel()
    model.entities = [tag]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let added = try coordinator.addPersistentStore(
      type: .sqlite, at: URL(fileURLWithPath: store),
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try coordinator.remove(added)
    try edit(
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
        + "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, printf('%200d', i) FROM n")
  }

  private func edit(_ sql: String) throws {
    let connection = try Connection(
      path: store, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    defer { connection.close() }
    try connection.execute(sql)
  }

  /// Commands that read a store, and one that changes a copy.
  private static let commands: [[String]] = [
    ["inspect"], ["doctor"], ["model"], ["rows", "+", "Tag"], ["advise", "+", "fetch Tag"],
    ["predicate", "name == 'a'", "--entity", "Tag", "--plan"],
    ["new", "copied", "--store"], ["shell"],
    ["shell", "+", "--write"],
  ]

  private func arguments(_ command: [String], _ path: String) -> [String] {
    command.contains("+") ? command.map { $0 == "+" ? path : $0 } : command + [path]
  }

  @Test("the file that a journal names as its super-journal isn't deleted", arguments: commands)
  func superJournalIsNotDeleted(_ command: [String]) throws {
    let victim = try program.folder.write("important data", to: "outside/victim")
    // Copies the files during a transaction.
    let writer = try Connection(
      path: store, access: .writing,
      options: Connection.Options(pragmas: [("journal_mode", "DELETE")]))
    try writer.execute(
      "PRAGMA cache_size = 2; BEGIN; UPDATE ZTAG SET ZNAME = 'x'")
    let hot = program.folder.file("hot.sqlite").path
    for suffix in ["", "-journal"] {
      try FileManager.default.copyItem(atPath: store + suffix, toPath: hot + suffix)
    }
    try writer.execute("ROLLBACK")
    writer.close()
    let name = Array(victim.utf8)
    let number = { (value: Int) in withUnsafeBytes(of: UInt32(value).bigEndian) { Array($0) } }
    let record =
      number(262_145) + name + number(name.count) + number(name.reduce(0) { $0 + Int($1) })
      + [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    let journal = try FileHandle(forWritingTo: URL(fileURLWithPath: hot + "-journal"))
    try journal.seekToEnd()
    try journal.write(contentsOf: Data(record))
    try journal.close()
    let before = try [hot, hot + "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }

    let outcome = try program.run(arguments(command, hot), input: "fetch Tag\n")
    #expect([0, 3].contains(outcome.status), "\(outcome.errors)")
    #expect(try String(contentsOfFile: victim, encoding: .utf8) == "important data")
    #expect(
      try [hot, hot + "-journal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
    #expect(program.leftovers == [])
  }

  private static let endless =
    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i FROM n) SELECT"

  @Test(
    "a store whose system tables aren't ordinary tables is invalid input",
    arguments: [
      "DROP TABLE Z_METADATA; CREATE VIEW Z_METADATA AS \(endless) 'u' Z_UUID, x'' Z_PLIST FROM n",
      "DROP TABLE Z_MODELCACHE; CREATE VIEW Z_MODELCACHE AS \(endless) x'00' Z_CONTENT FROM n",
      "DROP TABLE Z_PRIMARYKEY; CREATE VIEW Z_PRIMARYKEY AS \(endless) i Z_ENT, 'a' Z_NAME FROM n",
      "DROP TABLE Z_MODELCACHE; CREATE TABLE Z_MODELCACHE(a, Z_CONTENT AS "
        + "(instr(zeroblob(200000000), zeroblob(100000000)))); INSERT INTO Z_MODELCACHE(a) VALUES(1)",
    ])
  func rejectsStoresWithoutOrdinarySystemTables(_ sql: String) throws {
    try edit(sql)
    for command in Self.commands {
      let run = try program.run(arguments(command, store), input: "fetch Tag\n")
      #expect(run.status == 65, "\(command): \(run.errors)")
      #expect(run.errors.contains("not a Core Data store"), "\(command): \(run.errors)")
    }
  }

  @Test("files that aren't regular files count as missing and don't block")
  func rejectsFilesThatAreNotRegular() throws {
    let fifo = program.folder.file("fifo").path
    mkfifo(fifo, 0o600)
    let compiled = program.folder.file("fifo.mom").path
    mkfifo(compiled, 0o600)
    for path in [fifo, compiled, "/dev/zero", "/dev/null"] {
      for command in Self.commands + [["generate", "--out", "classes", "+"], ["diff", store]] {
        let run = try program.run(arguments(command, path), input: "fetch Tag\n")
        #expect(run.status == 66, "\(command) \(path): \(run.errors)")
        #expect(run.errors.contains("isn't a regular file"), "\(command) \(path): \(run.errors)")
      }
    }
    let document = program.folder.file("F.xcdatamodel")
    try FileManager.default.createDirectory(at: document, withIntermediateDirectories: false)
    mkfifo(document.appendingPathComponent("contents").path, 0o600)
    let run = try program.run(["model", document.path])
    #expect(run.status == 65 && run.errors.contains("isn't a regular file"))
  }

  @Test("a device as a log, a scenario, or a result counts as missing and isn't read")
  func rejectsDevices() throws {
    for path in ["/dev/zero", "/dev/null", "/dev/full"] {
      for command in [["log", path], ["run", path], ["report", path], ["compare", path, path]] {
        let run = try program.run(command)
        #expect(run.status == 66, "\(command): \(run.errors)")
        #expect(run.errors.contains("is a device"), "\(command): \(run.errors)")
      }
    }
  }

  @Test("advise rejects a corrupt store")
  func adviseRejectsCorruptStores() throws {
    var pages = try Data(contentsOf: URL(fileURLWithPath: store))
    let connection = try Connection(path: store, access: .inspecting)
    let rows = try connection.values("SELECT rootpage FROM sqlite_master WHERE name = 'ZTAG'")
    guard case .integer(let page)? = rows.first?.first else {
      Issue.record("no table")
      return
    }
    connection.close()
    let start = (Int(page) - 1) * 4096
    pages.replaceSubrange(start..<start + 200, with: Data(repeating: 0xff, count: 200))
    try pages.write(to: URL(fileURLWithPath: store))
    let run = try program.run(["advise", store, "fetch Tag"])
    #expect(run.status == 65, "\(run.errors)")
  }

  @Test("statements and pragmas of the shell can't access other files or end the program")
  func shellStatementsCannotAccessOtherFiles() throws {
    let outside = program.folder.file("outside").path
    let run = try program.run(
      ["shell", store, "--write"],
      input: """
        sql "ATTACH '\(outside)' AS x"
        sql "VACUUM INTO '\(outside)'"
        sql "SELECT fts3_tokenizer('simple', x'4141414141414141')"
        sql "PRAGMA temp_store_directory = '/'"
        .sqlite SELECT load_extension('\(outside)')
        pragma temp_store_directory to "/"
        pragma locking_mode to exclusive
        fetch Tag
        sql "SELECT 40 + 2"
        sql "SELECT length(hex(zeroblob(200000000)))"

        """)
    #expect(run.status == 65)
    #expect(!FileManager.default.fileExists(atPath: outside))
    #expect(
      run.errors.components(separatedBy: "can access only its own store").count == 6,
      "\(run.errors)"
    )
    #expect(run.errors.contains("the pragma `locking_mode` can't be set"), "\(run.errors)")
    #expect(run.output.contains("500") && run.output.contains("42"), "\(run.output)")
    #expect(run.errors.contains("is too large; the limit is"), "\(run.errors)")
  }

  @Test("the next run removes the temporary files of a killed run")
  func removesTemporaryFilesOfKilledRuns() throws {
    let scratch = program.folder.file("tmp/cdprof-scratch-ABCDEF")
    try FileManager.default.createDirectory(
      at: scratch, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for name in [".cdprof-scratch", "store"] {
      try Data([1]).write(to: scratch.appendingPathComponent(name))
    }
    #expect(try program.run(["inspect", store]).status == 0)
    #expect(program.leftovers == [])
  }

  @Test(
    "endless views and triggers don't block advice",
    arguments: [
      "DROP TABLE ZTAG; CREATE VIEW ZTAG AS \(endless) i Z_PK, 1 Z_ENT, 1 Z_OPT, 'a' ZNAME FROM n",
      "CREATE TRIGGER t AFTER INSERT ON ZTAG BEGIN INSERT INTO Z_METADATA(Z_UUID) "
        + "\(endless) 'u' FROM n; END",
    ])
  func adviceEndsDespiteEndlessViewsAndTriggers(_ sql: String) throws {
    try edit(sql)
    let select = "SELECT 0, t0.Z_PK FROM ZTAG t0 WHERE  t0.ZNAME = ?"
    let insert = "INSERT INTO ZTAG(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, ?, ?, ?)"
    let log = try program.folder.write(
      "CoreData: sql: \(select)\nCoreData: sql: \(insert)\n", to: "tags.log")
    for command in [["advise", store, "--sql", select], ["log", log, "--store", store]] {
      let run = try program.run(command, cpuSeconds: 60)
      #expect([0, 65].contains(run.status), "\(command): \(run.status) \(run.errors)")
    }
  }

  @Test("endless statements are stopped, and results have a size limit")
  func endlessStatementsAreStoppedAtTheLimit() throws {
    // Comparisons are the fastest steps, so the limit is reached sooner.
    let condition = Array(repeating: "i < 0", count: 90).joined(separator: " OR ")
    let statements = [
      "\(Self.endless) max(i) FROM n WHERE \(condition)", "\(Self.endless) i FROM n",
    ]
    let queries = statements.map { ".sqlite \($0)" }.joined(separator: "\n")
    let readOnly = try program.run(
      ["shell", store], input: queries + "\n.sqlite SELECT printf('%40000000d', 1)\nfetch Tag\n")
    #expect(readOnly.status == 65 && readOnly.output.contains("500"))
    // 1,000,000,000 VM steps, or on a slow computer, 30 s.
    #expect(readOnly.errors.contains("limit of this statement is"), "\(readOnly.errors)")
    #expect(
      readOnly.errors.components(separatedBy: "too large; the limit is 100,000 rows or 16 MB").count
        == 3,
      "\(readOnly.errors)")
    let written = try program.run(
      ["shell", store, "--write"], input: "sql \"\(statements[0])\"\nfetch Tag\n")
    #expect(written.status == 65 && written.output.contains("500"))
    #expect(written.errors.contains("limit of this statement is"), "\(written.errors)")
    let long = try program.run(
      ["shell", store, "--write"],
      input: "sql \"SELECT zeroblob(100000000), hex(zeroblob(1000000))\"\n")
    #expect(long.status == 0 && long.output.utf8.count < 2_000)
    #expect(long.output.contains("100,000,000 bytes, \"0000"), "\(long.output)")
  }

  @Test("a statement that exceeds the memory limit fails, and the next one runs")
  func statementOverTheMemoryLimitFails() throws {
    let rows = "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n LIMIT 8)"
    let run = try program.run(
      ["shell", store],
      input: ".sqlite \(rows) SELECT length(x) FROM (SELECT group_concat(hex(zeroblob("
        + "120000000 + i)), '') OVER (PARTITION BY i) x FROM n)\nfetch Tag\n")
    #expect(run.status == 65 && run.output.contains("500"), "\(run.errors)")
    #expect(run.errors.contains("memory"), "\(run.errors)")
  }

  @Test("a sparse journal that exceeds the disk is an error")
  func rejectsJournalsLargerThanTheDisk() throws {
    for suffix in ["-journal", "-wal"] {
      try Data().write(to: URL(fileURLWithPath: store + suffix))
      truncate(store + suffix, 1 << 42)
      let run = try program.run(["shell", store, "--write"], input: "fetch Tag\n")
      #expect(run.status != 0 && run.errors.contains("free"), "\(run.errors)")
      try FileManager.default.removeItem(atPath: store + suffix)
    }
  }

  @Test("a socket is missing input for every command")
  func rejectsSockets() throws {
    let script = """
      python3 - << END
      import socket
      socket.socket(socket.AF_UNIX).bind("sock")
      END
      echo 'CoreData: sql: SELECT 1' > lines

      """
    let commands =
      Self.commands.map { arguments($0, "sock") }
      + [
        ["log", "sock"], ["run", "sock"], ["report", "sock"], ["compare", "sock", "sock"],
        ["diff", "sock", "sock"], ["generate", "sock", "--out", "g"],
        ["export", "sock", "--swift"],
        ["log", "lines", "--store", "sock"], ["log", "lines", "--model", "sock"],
        ["log", "lines", "--expect", "sock"], ["advise", "sock", "fetch Tag"],
      ]
    let lines = commands.map { command in
      "cdprof " + command.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: " ")
        + " < /dev/null > o 2> e; echo \"$? $(grep -cE '^sock (isn|can)' e)\""
    }
    let outcome = try program.bash(script + lines.joined(separator: "\n"))
    let ends = outcome.output.split(separator: "\n")
    #expect(ends.count == commands.count, "\(outcome.errors)")
    for (command, end) in zip(commands, ends) {
      #expect(end == "66 1", "\(command): \(end)")
    }
  }

  /// Mounting requires root, or a namespace in which the user is root.
  private static let canMount: Bool = {
    let mount = try? BuiltProgram().bash("unshare -m mount -t tmpfs tmpfs /tmp")
    return mount?.status == 0
  }()

  @Test(
    "a full folder for temporary files fails the run; it isn't invalid input",
    .enabled(if: canMount, "mounting a file system isn't permitted"))
  func fullTemporaryFolderFailsTheRun() throws {
    // The mounts hide whatever is below /tmp, so the program and the files get another path first.
    let script = """
      mount -t tmpfs tmpfs /mnt && mkdir /mnt/bin /mnt/files || exit 77
      mount --bind "$(dirname "$CDPROF")" /mnt/bin && mount --bind . /mnt/files || exit 77
      cd /mnt/files && cp "$1" full.sqlite || exit 77
      mount -t tmpfs -o size=64k tmpfs /tmp && mount -t tmpfs -o size=64k tmpfs /var/tmp || exit 77
      export TMPDIR=/tmp
      /mnt/bin/cdprof shell full.sqlite --write < lines; echo "$?"; ls -A /tmp /var/tmp | grep -c scratch
      """
    _ = try program.folder.write("fetch Tag\n", to: "lines")
    let file = try program.folder.write(script, to: "full.sh")
    let outcome = try program.bash("unshare -m bash '\(file)' '\(store)'")
    let words = outcome.output.split(separator: "\n")
    #expect(words.suffix(2) == ["1", "0"], "\(outcome.output) \(outcome.errors)")
    #expect(outcome.errors.contains("are free"), "\(outcome.errors)")
  }

  @Test("a scenario's unusable store is reported with a message")
  func scenarioReportsAnUnusableStore() throws {
    try edit("DROP TABLE Z_METADATA; CREATE VIEW Z_METADATA AS SELECT 1 Z_VERSION")
    let yaml = "name: S\ndata: {store: \"\(store)\"}\nsteps:\n  - {fetch: Tag}\n"
    let run = try program.run(["run", program.folder.write(yaml, to: "s.yml")])
    #expect(run.status == 65)
    #expect(!run.errors.contains("Error Domain") && !run.errors.contains("UserInfo"))
    #expect(run.errors.contains("Z_METADATA isn't an ordinary table"), "\(run.errors)")
  }

  @Test("inferring the model of wide tables is fast", arguments: [400, 1_900])
  func infersModelsOfWideTablesQuickly(columns: Int) throws {
    let names = (0..<columns).map { "ZC\($0)" }
    try edit(
      "DELETE FROM Z_MODELCACHE; INSERT INTO Z_PRIMARYKEY VALUES(9, 'Wide', 0, 200); CREATE TABLE "
        + "ZWIDE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, "
        + names.map { "\($0) INTEGER" }.joined(separator: ", ")
        + "); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
        + "INSERT INTO ZWIDE SELECT i, 9, 1, \(names.map { _ in "i" }.joined(separator: ", ")) FROM n"
    )
    // The limit is processor time, which doesn't depend on the load of the machine.
    let run = try program.bash("ulimit -t 10; cdprof model '\(store)'")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.matches(of: /\n  c\d+ +Integer 64,/).count == columns)
  }
}
