import Foundation
import FoundationNetworking
import Moody
import MoodyHTTP
import MoodySync
import MoodyTestSupport
import OpenCoreData

/// A run of a server and two clients as processes, with a proxy between them that fails, and with
/// processes that are killed; then the network works, and the run ends when all have the same moods.
///
/// The seed sets what users do, what is killed when, and the fates of requests; the order in which
/// processes run is the system's, so a seed repeats a plan, not each interleaving.
final class ProcessChaosRun {
  private var generator: SeededGenerator
  private let folder: URL
  private let proxy: FaultyProxy
  private let machines: [Machine]
  private var server: Program?
  private var serverPort: UInt16 = 0
  private var inserted = 0
  /// The colors of the moods that users added and did not delete.
  private var reference: Set<String> = []
  /// What happened, for a failure.
  private var script: [String] = []

  private init(seed: Int, _ folder: URL) throws {
    generator = SeededGenerator(seed: seed)
    self.folder = folder
    let proxy = try FaultyProxy(seed: seed &+ 1_000_003)
    self.proxy = proxy
    machines = (1...2).map { Machine($0, folder, server: "http://127.0.0.1:\(proxy.port)") }
  }

  /// Returns what differs from the reference, and what happened; `nil` if nothing differs.
  static func failure(seed: Int, steps: Int) async throws -> String? {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("ProcessChaos-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let run = try ProcessChaosRun(seed: seed, folder)
    var differences: [String]
    do {
      try await run.startServer()
      for _ in 0..<steps { try await run.step() }
      differences = try await run.end()
    } catch {
      differences = ["\(error)"]
    }
    for machine in run.machines { try? await machine.stopWatching() }
    try? await run.server?.kill()
    run.proxy.stop()
    if differences.isEmpty {
      try? FileManager.default.removeItem(at: folder)
      return nil
    }
    return (differences + ["The stores are in \(folder.path)."] + run.script)
      .joined(separator: "\n")
  }

  private func note(_ line: String) {
    script += proxy.takeLog()
    script.append(line)
  }

  private func pause(below milliseconds: Int) async throws {
    let time = Int.random(in: 0..<milliseconds, using: &generator)
    try await Task.sleep(for: .milliseconds(time))
  }

  // MARK: Steps

  private func step() async throws {
    let machine = machines[Int.random(in: 0..<machines.count, using: &generator)]
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<40: try await add(machine)
    case 40..<58: try await delete(machine)
    case 58..<75:
      note("client \(machine.number): watches")
      try await machine.stopWatching()
      try machine.watch()
      try await pause(below: 800)
    case 75..<85:
      note("server: killed")
      proxy.setServerPort(nil)
      try await server?.kill()
      try await pause(below: 600)
      try await startServer()
    case 85..<92:
      note("network: partition")
      proxy.partition(for: Double.random(in: 0.2..<2.5, using: &generator))
    default: try await pause(below: 600)
    }
    for machine in machines where machine.watching?.hasEnded == true {
      throw ChaosFailure(description: "watch ends: \(machine.watching?.output ?? "")")
    }
  }

  private func startServer() async throws {
    let server = try Program(
      "moody-server",
      ["--store", folder.appendingPathComponent("server.sqlite").path, "--port", "0"],
      output: folder.appendingPathComponent("server.txt"))
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

  private func add(_ machine: Machine) async throws {
    inserted += 1
    let color = String(format: "%06x", inserted)
    if try await run(["add", color, "--country", ["FR", "US"][inserted % 2]], machine, color) {
      reference.insert(color)
    }
  }

  private func delete(_ machine: Machine) async throws {
    try await machine.stopWatching()
    // Often the latest, whose upload may still be on its way.
    let choice = generator.chance(0.5) ? 0 : Int.random(in: 0..<1_000, using: &generator)
    let moods = try await machine.list()
    guard !moods.isEmpty else { return }
    let mood = moods[choice % moods.count]
    if try await !run(["delete", mood.id], machine, mood.color) { reference.remove(mood.color) }
  }

  /// Runs a command, and kills it in a third of all cases; returns whether its mood is listed then,
  /// which is what a user looks at who doesn't know whether the command was done.
  private func run(_ command: [String], _ machine: Machine, _ color: String) async throws -> Bool {
    try await machine.stopWatching()
    let isKilled = generator.chance(0.35)
    let wait = Double.random(in: 0..<1.5, using: &generator)
    let program = try machine.start(command, wait: wait)
    if isKilled {
      try await pause(below: 400)
      try await program.kill()
    }
    let code = try await program.end(within: 60)
    let isListed = try await machine.list().contains { $0.color == color }
    note(
      "client \(machine.number): \(command.joined(separator: " ")) (\(color))"
        + (code == nil ? ", killed" : "") + ", listed: \(isListed)")
    if code == 0, command[0] == "delete", isListed {
      throw ChaosFailure(description: "a deleted mood is listed")
    }
    // Another user can have deleted the mood meanwhile.
    if let code, code != 0, command[0] == "add" || isListed {
      throw ChaosFailure(description: "\(command) fails: \(program.output)")
    }
    if code == 0, command[0] == "add", !isListed {
      throw ChaosFailure(description: "an added mood isn't listed")
    }
    return isListed
  }

  // MARK: The end

  /// Lets the network work, waits until all have the same moods, and returns what differs.
  private func end() async throws -> [String] {
    for machine in machines { try await machine.stopWatching() }
    proxy.heal()
    note("the network works")
    // Requests that are late still arrive.
    try await Task.sleep(for: .milliseconds(4_100))
    var found: [String] = []
    for _ in 0..<10 {
      for machine in machines { _ = try await machine.list(wait: 20) }
      found = try await differences()
      if found.isEmpty { break }
    }
    return found
  }

  private func differences() async throws -> [String] {
    var differences: [String] = []
    let records = try await serverMoods()
    let colors = records.values.map { Self.color($0.colors) }.sorted()
    if colors != reference.sorted() {
      differences.append("the server has \(colors), not \(reference.sorted())")
    }
    for machine in machines {
      let listed = try await machine.list()
      let colors = listed.map(\.color).sorted()
      if colors != reference.sorted() {
        differences.append("client \(machine.number) has \(colors), not \(reference.sorted())")
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
