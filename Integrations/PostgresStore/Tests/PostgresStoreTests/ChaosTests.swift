import Foundation
import OpenCoreData
import PostgresDriver
import PostgresFixtures
import Testing

@Suite("The server is killed and started again", .serialized)
struct ChaosTests {
  /// The seconds that the server is killed for; `CDPROF_POSTGRES_SECONDS=600` sets them.
  private static let seconds =
    ProcessInfo.processInfo.environment["CDPROF_POSTGRES_SECONDS"].flatMap(Double.init) ?? 20
  private static let processes = 4
  /// The seconds that contexts have to save after the last start, and processes to end.
  private static let patience = 60.0

  @Test(
    "Nothing reported as saved is lost, nothing else is half there, and eight contexts go on",
    .timeLimit(.minutes(60)))
  func savesSurviveTheServer() throws {
    let server = try LocalServer()
    try server.start()
    let url = try #require(URL(string: server.uri + "&schema=chaos"))
    let coordinator = try ChaosModel.open(url)
    let context = ChaosModel.context(coordinator)
    try context.performAndWait {
      for name in ChaosModel.counters { context.insert("Counter", ["name": name, "value": 0]) }
      try context.save()
    }
    let clients = try (0..<Self.processes).map { try client($0, url, server.folder) }
    var restarts = 0
    let end = Date(timeIntervalSinceNow: Self.seconds)
    while Date() < end {
      Thread.sleep(forTimeInterval: .random(in: 1...4))
      if restarts.isMultiple(of: 2) { try server.stop() } else { try server.kill() }
      Thread.sleep(forTimeInterval: .random(in: 0...1))
      try server.start()
      restarts += 1
    }
    let lastStart = Date().timeIntervalSinceReferenceDate
    let urls = (0..<2 * Self.processes).map {
      server.folder.appendingPathComponent("journal\($0)")
    }
    let limit = Date(timeIntervalSinceNow: Self.patience)
    while Date() < limit, !(try urls.allSatisfy { try hasSaved($0, after: lastStart) }) {
      Thread.sleep(forTimeInterval: 0.2)
    }
    #expect(
      try urls.filter { !(try hasSaved($0, after: lastStart)) } == [],
      "these contexts haven't saved since the last start")
    try Data().write(to: server.folder.appendingPathComponent("stop"))
    for client in clients { try expectEnd(client) }
    var outcome = ChaosOutcome()
    for (writer, url) in urls.enumerated() {
      outcome.add(try ChaosJournal.read(url).map(\.event), of: writer)
    }
    print("\(restarts) restarts: \(outcome.summary)")
    #expect(restarts > 0 && outcome.savedCount > 0)
    #expect(outcome.violations == [])
    let cold = ChaosModel.context(try ChaosModel.open(url))
    try cold.performAndWait {
      #expect(outcome.differences(from: try StoredGroups(cold)) == [])
      for counter in try cold.all("Counter") {
        let value = (counter.value(forKey: "value") as? NSNumber)?.intValue ?? -1
        #expect(outcome.counts(counter.name ?? "").contains(value))
      }
    }
    // What the server has is the same without the store.
    let rows = try server.psql(
      "SELECT writer, number, min(state), count(*), count(DISTINCT state), count(counter) "
        + "FROM chaos.\"Entry\" GROUP BY writer, number")
    #expect(outcome.differences(from: StoredGroups(rows)) == [])
  }

  @Test("A number of a lost transaction that another one has isn't taken for a commit")
  func reusedNumbersAreNotCommits() throws {
    let server = try LocalServer()
    // What isn't committed isn't written before the server is stopped.
    let settings = ["fsync=off", "wal_writer_delay=10s", "autovacuum=off"]
    try server.start(settings)
    let connection = try PostgresConnection(ConnectionSettings(uri: server.uri))
    try connection.execute("CREATE TABLE t (n bigint)")
    try connection.execute("CHECKPOINT")
    try connection.execute("BEGIN; INSERT INTO t VALUES (1)")
    let number = try #require(try connection.query("SELECT pg_current_xact_id()::text").text(0, 0))
    let run = try #require(connection.serverRun)
    try server.stop()
    try server.start(settings)
    let other = try PostgresConnection(ConnectionSettings(uri: server.uri))
    #expect(other.serverRun != run)
    #expect(other.outcome(of: number, in: run) != .committed)
    try other.execute("INSERT INTO t VALUES (2)")
    let status = try other.query("SELECT pg_xact_status($1::text::xid8)", [.text(number)])
    try #require(status.text(0, 0) == "committed", "the number wasn't used again")
    #expect(try other.query("SELECT n FROM t").integers(0) == [2])
    #expect(connection.outcome(of: number, in: run) == .unknown)
    #expect(other.outcome(of: number, in: other.serverRun) == .committed)
  }

  private func client(_ number: Int, _ url: URL, _ folder: URL) throws -> Process {
    let programs = try #require(Bundle.main.executableURL).deletingLastPathComponent()
    let process = Process()
    process.executableURL = programs.appendingPathComponent("chaos-client")
    process.arguments = [url.absoluteString, folder.path, "\(number)"]
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  private func hasSaved(_ journal: URL, after time: Double) throws -> Bool {
    guard FileManager.default.fileExists(atPath: journal.path) else { return false }
    return try ChaosJournal.read(journal).contains { $0.event == .saved && $0.time > time }
  }

  private func expectEnd(_ client: Process) throws {
    let limit = Date(timeIntervalSinceNow: Self.patience)
    while client.isRunning, Date() < limit { Thread.sleep(forTimeInterval: 0.05) }
    let isEnded = !client.isRunning
    if !isEnded { client.terminate() }
    client.waitUntilExit()
    #expect(isEnded && client.terminationReason == .exit && client.terminationStatus == 0)
  }
}

/// The groups of entries that a store has: for each writer and number, the state and whether it's
/// whole.
struct StoredGroups {
  struct Key: Hashable {
    let writer, number: Int
  }

  /// By group; nil for one whose entries differ or are missing.
  private(set) var states: [Key: Int?] = [:]

  /// Reads the groups with a context.
  init(_ context: NSManagedObjectContext) throws {
    var entries: [Key: [Int]] = [:]
    for entry in try context.all("Entry") {
      func number(_ key: String) -> Int { (entry.value(forKey: key) as? NSNumber)?.intValue ?? -1 }
      #expect((entry.value(forKey: "counter") as? NSManagedObject)?.name != nil)
      entries[Key(writer: number("writer"), number: number("number")), default: []]
        .append(number("state"))
    }
    for (key, list) in entries {
      states[key] = .some(
        list.count == ChaosModel.groupSize && Set(list).count == 1 ? list.first : nil)
    }
  }

  /// Reads the groups that `psql` has printed.
  init(_ rows: [String]) {
    for row in rows {
      let numbers = row.split(separator: "|").compactMap { Int($0) }
      guard numbers.count == 6 else {
        Issue.record("psql has printed '\(row)'")
        continue
      }
      let isWhole = numbers[3...] == [ChaosModel.groupSize, 1, ChaosModel.groupSize]
      states[Key(writer: numbers[0], number: numbers[1])] = .some(isWhole ? numbers[2] : nil)
    }
  }
}

/// What the journals of all contexts say.
struct ChaosOutcome {
  private(set) var violations: [String] = []
  private(set) var savedCount = 0
  private var failedCount = 0
  private var unknownCount = 0
  private var unreadCount = 0
  private var codes: [Int: Int] = [:]
  /// The states that each group may have.
  private var states: [StoredGroups.Key: Set<Int>] = [:]
  /// The values that each counter may have.
  private var increments: [String: (saved: Int, unknown: Int)] = [:]

  /// The errors that a save or a fetch may report without a server, after a conflict, or with an
  /// unknown outcome.
  private static let expectedCodes: Set<Int> = [
    NSPersistentStoreOpenError, NSPersistentStoreTimeoutError, NSPersistentStoreSaveError,
    NSPersistentStoreOperationError, NSManagedObjectMergeError,
  ]

  var summary: String {
    "\(savedCount) saved, \(failedCount) failed, \(unknownCount) unknown, \(unreadCount) unread; "
      + codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }

  /// Returns the values that a counter may have.
  func counts(_ name: String) -> ClosedRange<Int> {
    let (saved, unknown) = increments[name] ?? (0, 0)
    return saved...(saved + unknown)
  }

  /// Adds the events of a writer.
  mutating func add(_ events: [ChaosJournal.Event], of writer: Int) {
    var begun: ChaosJournal.Change?
    for event in events {
      switch event {
      case .begin(let change): begun = change
      case .saved:
        savedCount += 1
        apply(begun, of: writer, isKnown: true)
        begun = nil
      case .failed(let domain, let code, let isKnown):
        check(domain, code)
        if isKnown {
          failedCount += 1
        } else {
          unknownCount += 1
          apply(begun, of: writer, isKnown: false)
        }
        begun = nil
      case .unread(let domain, let code):
        unreadCount += 1
        check(domain, code)
      case .found(let number, let state):
        let key = StoredGroups.Key(writer: writer, number: number)
        if !(states[key] ?? [0]).contains(state) {
          violations.append("\(writer): group \(number) was found as \(state)")
        }
        states[key] = [state]
      case .violation(let text): violations.append("\(writer): \(text)")
      }
    }
    if begun != nil { violations.append("\(writer) has ended in a save") }
  }

  private mutating func check(_ domain: String, _ code: Int) {
    codes[code, default: 0] += 1
    if domain != NSCocoaErrorDomain || !Self.expectedCodes.contains(code) {
      violations.append("the error \(domain) \(code)")
    }
  }

  private mutating func apply(_ change: ChaosJournal.Change?, of writer: Int, isKnown: Bool) {
    switch change {
    case .group(let number, let state):
      let key = StoredGroups.Key(writer: writer, number: number)
      states[key] = isKnown ? [state] : (states[key] ?? [0]).union([state])
    case .counter(let name):
      var counts = increments[name] ?? (0, 0)
      if isKnown { counts.saved += 1 } else { counts.unknown += 1 }
      increments[name] = counts
    case .note, nil: break
    }
  }

  /// Returns how a store's groups differ from what was reported.
  func differences(from stored: StoredGroups) -> [String] {
    Set(states.keys).union(stored.states.keys).compactMap { key in
      let found = stored.states[key] ?? .some(0)
      let expected = states[key] ?? [0]
      if let found, expected.contains(found) { return nil }
      return "\(key) is \(found.map { "\($0)" } ?? "not whole"), not one of \(expected.sorted())"
    }
  }
}
