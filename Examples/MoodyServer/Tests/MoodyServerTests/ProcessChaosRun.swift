import Foundation
import FoundationNetworking
import Moody
import MoodyHTTP
import MoodySync
import OpenCoreData

/// A run of a server and two clients as processes, with a proxy between them that fails, with
/// processes that are killed, and with clocks that jump; then the network works, and the run ends
/// when all have the same moods.
///
/// The seed sets what users do, what is killed when, and the fates of requests; the order in which
/// processes run is the system's, so a seed repeats a plan, not each interleaving.
actor ProcessChaosRun {
  /// What a run does.
  struct Plan {
    var seed: Int
    /// The maximum length of a network partition in seconds, at least 3.
    var longestPartition = 5.0
    /// The fault that the run must find.
    var fault: FaultyProxy.Fault?
  }

  private let plan: Plan
  private let folder: URL
  private let proxy: FaultyProxy
  private let machines: [Machine]
  private let serverClock: SkewedClock
  private var server: Program?
  private var serverPort: UInt16 = 0
  /// The colors of the moods that users added, and of those that they deleted.
  private var (added, deleted): (Set<String>, Set<String>) = ([], [])
  /// What happened, for a failure.
  private var script: [String] = []

  private init(_ plan: Plan, _ folder: URL) throws {
    self.plan = plan
    self.folder = folder
    let proxy = try FaultyProxy(fault: plan.fault)
    self.proxy = proxy
    serverClock = try SkewedClock(in: folder, name: "server")
    machines = try (1...2).map {
      try Machine($0, folder, server: "http://127.0.0.1:\(proxy.port)")
    }
  }

  /// Returns what differs from the reference, and what happened; `nil` if nothing differs.
  static func failure(_ plan: Plan, steps: [Int]) async throws -> String? {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ProcessChaos-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let failure = try await ProcessChaosRun(plan, folder).failure(steps)
    // A planted fault needs no explanation.
    if failure == nil || plan.fault != nil { try? FileManager.default.removeItem(at: folder) }
    return failure
  }

  private func failure(_ steps: [Int]) async throws -> String? {
    var differences: [String]
    do {
      try await startServer()
      for number in steps { try await step(number) }
      differences = try await end()
    } catch {
      differences = ["\(error)"]
    }
    for machine in machines { try? await machine.stopWatching() }
    try? await server?.kill()
    proxy.stop()
    guard !differences.isEmpty else { return nil }
    let place = plan.fault == nil ? ["The stores are in \(folder.path)."] : []
    return (differences + place + script + proxy.takeLog()).joined(separator: "\n")
  }

  private func note(_ line: String) {
    script += proxy.takeLog()
    script.append(line)
  }

  // MARK: Steps

  private func step(_ number: Int) async throws {
    note("step \(number)")
    proxy.setSeed(plan.seed &* 1_000_003 &+ number &+ 1_000_000_007)
    let step = ProcessChaosStep(
      seed: plan.seed, number: number, machines: machines.count,
      longestPartition: plan.longestPartition)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (machine, command) in zip(machines, step.commands) {
        group.addTask { try await self.perform(command, at: machine) }
      }
      group.addTask { try await self.perform(step.event) }
      try await group.waitForAll()
    }
    for machine in machines {
      guard let watching = await machine.watching, watching.hasEnded else { continue }
      throw ChaosFailure(description: "watch ends: \(watching.output)")
    }
  }

  private func perform(_ event: ProcessChaosStep.Event) async throws {
    switch event {
    case .none: break
    case .serverKilled(let after, let milliseconds):
      try await Task.sleep(for: .milliseconds(after))
      note("server: killed")
      proxy.setServerPort(nil)
      try await server?.kill()
      try await Task.sleep(for: .milliseconds(milliseconds))
      try await startServer()
    case .partition(let after, let seconds):
      try await Task.sleep(for: .milliseconds(after))
      note("network: partition of \(Int(seconds * 1_000)) ms")
      proxy.partition(for: seconds)
    case .clockJump(let number, let seconds):
      note("\(number == 0 ? "server" : "client \(number)"): the clock jumps by \(seconds) s")
      if number == 0 {
        try serverClock.jump(by: seconds)
      } else {
        try machines[number - 1].clock.jump(by: seconds)
      }
    }
  }

  private func startServer() async throws {
    let server = try Program(
      "moody-server",
      ["--store", folder.appendingPathComponent("server.sqlite").path, "--port", "0"],
      output: folder.appendingPathComponent("server.txt"), clock: serverClock)
    self.server = server
    for _ in 0..<1_000 {
      let line = server.output
      if line.hasSuffix("\n"), let text = line.split(separator: ":").last,
        let port = UInt16(text.trimmingCharacters(in: .newlines))
      {
        serverPort = port
        return proxy.setServerPort(port)
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw ChaosFailure(description: "the server doesn't start: \(server.output)")
  }

  private func perform(
    _ command: ProcessChaosStep.Command, at machine: Machine
  ) async throws {
    switch command.action {
    case .add(let color, let country):
      if try await run(["add", color, "--country", country], command, machine, color) {
        added.insert(color)
      }
    case .delete(let choice):
      try await machine.stopWatching()
      let moods = try await machine.list()
      guard !moods.isEmpty else { return }
      let mood = moods[choice % moods.count]
      if try await !run(["delete", mood.id], command, machine, mood.color) {
        deleted.insert(mood.color)
      }
    case .watch(let milliseconds):
      note("client \(machine.number): watches")
      try await machine.stopWatching()
      try await machine.watch()
      try await Task.sleep(for: .milliseconds(milliseconds))
    case .rest(let milliseconds):
      try await Task.sleep(for: .milliseconds(milliseconds))
    }
  }

  /// Runs a command, and kills it if that's planned; returns whether its mood exists then, as a user
  /// sees who doesn't know whether the command was done.
  private func run(
    _ arguments: [String], _ command: ProcessChaosStep.Command, _ machine: Machine, _ color: String
  ) async throws -> Bool {
    try await machine.stopWatching()
    let program = try await machine.start(arguments, wait: command.wait)
    if let milliseconds = command.killedAfter {
      try await Task.sleep(for: .milliseconds(milliseconds))
      try await program.kill()
    }
    let code = try await program.end(within: 60)
    let isListed = try await machine.list().contains { $0.color == color }
    note(
      "client \(machine.number): \(arguments.joined(separator: " ")) (\(color))"
        + (code == nil ? ", killed" : "") + ", listed: \(isListed)")
    if code == 0, arguments[0] == "delete", isListed {
      throw ChaosFailure(description: "a deleted mood is listed")
    }
    // The other user can have deleted the mood meanwhile.
    if let code, code != 0, arguments[0] == "add" || isListed {
      throw ChaosFailure(description: "\(arguments) fails: \(program.output)")
    }
    return isListed || (code == 0 && arguments[0] == "add")
  }

  // MARK: The end

  /// Lets the network work, waits until all have the same moods, and returns what differs.
  private func end() async throws -> [String] {
    for machine in machines { try await machine.stopWatching() }
    proxy.heal()
    note("the network works")
    while proxy.hasLateRequests { try await Task.sleep(for: .milliseconds(10)) }
    var found: [String] = []
    // The first round sends what is left over, and the second one fetches it.
    for _ in 0..<3 {
      for machine in machines { _ = try await machine.list(wait: 20) }
      found = try await differences()
      if found.isEmpty { break }
    }
    return found
  }

  private func differences() async throws -> [String] {
    var differences: [String] = []
    let reference = added.subtracting(deleted).sorted()
    let records = try await serverMoods()
    let colors = records.values.map { Self.color($0.colors) }.sorted()
    if colors != reference { differences.append("the server has \(colors), not \(reference)") }
    for machine in machines {
      let listed = try await machine.list()
      let colors = listed.map(\.color).sorted()
      if colors != reference {
        differences.append("client \(machine.number) has \(colors), not \(reference)")
      }
      for mood in listed where !mood.isSent {
        differences.append("client \(machine.number): \(mood.color) isn't sent")
      }
      differences += try Self.differences(in: machine.storeURL, records).map {
        "client \(machine.number): \($0)"
      }
    }
    return differences
  }

  /// Returns what is wrong in a client's store: flags that are left over, values that the server
  /// doesn't have, and counts.
  private static func differences(
    in storeURL: URL, _ records: [String: RemoteMood]
  ) throws -> [String] {
    let context = try MoodyContainer.make(storeURL: storeURL).newBackgroundContext()
    return try context.performAndWait {
      var differences: [String] = []
      let pending = try Mood.count(in: context) { request in
        request.predicate = NSPredicate(
          format: "%K == NULL AND (%K == NULL OR %K == YES)", Mood.deletionDateKey,
          Mood.remoteIdentifierKey, Mood.remoteDeletionKey)
      }
      if pending > 0 { differences.append("\(pending) moods are still to be sent") }
      for mood in try context.fetch(Mood.visibleFetchRequest) {
        let name = mood.recordName ?? ""
        let record = records[name]
        if record?.colors != mood.colors || record?.countryCode != mood.country?.numericISO3166Code
          || mood.remoteIdentifier != name || mood.creatorID != record?.creatorID
        {
          differences.append("\(color(mood.colors)) differs from the server's record")
        }
      }
      for country in try Country.fetch(in: context)
      where country.numberOfMoods != Int64(country.moods.count)
        || (country.markedForDeletionDate == nil) != (country.numberOfMoods > 0)
      {
        differences.append(
          "country \(country.numericISO3166Code) counts \(country.numberOfMoods) of "
            + "\(country.moods.count) moods")
      }
      return differences
    }
  }

  private static func color(_ colors: Data) -> String {
    colors.prefix(3).map { String(format: "%02x", $0) }.joined()
  }

  /// Returns the moods of the server's whole history of changes.
  private func serverMoods() async throws -> [String: RemoteMood] {
    var moods: [String: RemoteMood] = [:]
    var token: String?
    while true {
      let query = token.map { "?after=\($0)" } ?? ""
      guard let url = URL(string: "http://127.0.0.1:\(serverPort)/changes\(query)") else {
        throw URLError(.badURL)
      }
      let (data, _) = try await URLSession.shared.data(from: url)
      let response = try JSONDecoder().decode(ChangesResponse.self, from: data)
      for change in response.changes { moods[change.id] = change.mood }
      token = response.token
      if response.isComplete { return moods }
    }
  }
}
