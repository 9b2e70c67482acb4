import Moody
import MoodyTestSupport
import OpenCoreData

@testable import MoodySync

/// A client's program, which can be killed and started again with the same store.
private final class ChaosClient {
  let number: Int
  private let folder: StoreFolder
  private let network: ChaosNetwork
  private var running: (stack: SyncStack, coordinator: SyncCoordinator)

  init(_ number: Int, _ network: ChaosNetwork) throws {
    self.number = number
    self.network = network
    folder = try StoreFolder()
    running = try Self.start(folder, number, network)
  }

  private static func start(
    _ folder: StoreFolder, _ number: Int, _ network: ChaosNetwork
  ) throws -> (SyncStack, SyncCoordinator) {
    let stack = try SyncStack(folder, pragmas: ["synchronous": "OFF"])
    let coordinator = SyncCoordinator(
      viewContext: stack.view, syncContext: stack.sync,
      remote: ChaosRemote(client: number, network: network),
      changeProcessors: [MoodUploader(), MoodDownloader(), MoodRemover()],
      schedule: { [retries = stack.retries] delay, block in retries.add(delay, block) })
    return (stack, coordinator)
  }

  var view: NSManagedObjectContext { running.stack.view }
  var retries: Retries { running.stack.retries }

  /// Deletes the moods that are marked for local deletion, although they may be in use: the clock
  /// has jumped ahead, so that they seem to have been marked long ago.
  func purge() throws {
    try view.performAndWait { try Mood.deleteMarked(in: view, olderThan: -1) }
    running.coordinator.applicationDidEnterBackground()
    settle()
  }

  func wake() { running.coordinator.applicationDidBecomeActive() }

  /// Ends the program without saving anything, and starts it again.
  ///
  /// Waits until it's idle, because its blocks would otherwise outlive it in this process.
  func restart() throws {
    settle()
    network.disconnect(number)
    running = try Self.start(folder, number, network)
    wake()
  }

  /// Waits until the client does nothing more without a message or a retry.
  func settle() {
    var (before, quiet) = (-1, 0)
    while quiet < 2 {
      running.stack.drain()
      running.coordinator.syncGroup.wait()
      running.stack.drain()
      running.coordinator.saveQueue.sync {}
      running.stack.drain()
      view.performAndWait {}
      let activity = network.activity + retries.delays.count
      quiet = activity == before ? quiet + 1 : 0
      before = activity
    }
  }
}

/// A run of two clients and a server, in which everything goes wrong that can; then the network
/// works, and the run ends when nothing is left to do.
///
/// Each step depends on the seed and its own number only, so that a failure's steps can be left
/// out.
final class ChaosRun {
  private let seed: Int
  private var generator: SeededGenerator
  private let network: ChaosNetwork
  private let clients: [ChaosClient]
  /// What happened, for a failure.
  private(set) var script: [String] = []
  /// The moods that users inserted, did not delete, and that the server accepts.
  private var reference: Set<String> = []
  private var inserted = 0

  init(seed: Int, server: ChaosServer = ChaosServer()) throws {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    let network = ChaosNetwork(server: server)
    self.network = network
    clients = try (1...2).map { try ChaosClient($0, network) }
    for client in clients { client.wake() }
  }

  /// Returns what differs from the reference after some steps, and what happened; `nil` if nothing
  /// differs.
  static func failure(
    seed: Int, steps: [Int], server: ChaosServer = ChaosServer()
  ) -> String? {
    do {
      let run = try ChaosRun(seed: seed, server: server)
      let differences: [String]
      do {
        try run.run(steps)
        differences = try run.differences()
      } catch {
        differences = ["\(error)"]
      }
      return differences.isEmpty ? nil : (differences + run.script).joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  private func run(_ steps: [Int]) throws {
    for number in steps {
      generator = SeededGenerator(seed: seed &* 1_000_003 &+ number)
      // Otherwise, the user's changes meet work that is in progress.
      if generator.chance(0.5) { for client in clients { client.settle() } }
      try step()
    }
    try end()
  }

  private func step() throws {
    let client = clients[Int.random(in: 0..<clients.count, using: &generator)]
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<20: try insert(client)
    case 20..<30: try delete(client)
    case 30..<34:
      script.append("client \(client.number): killed")
      try client.restart()
    case 34..<38:
      script.append("client \(client.number): active")
      client.wake()
    case 38..<41:
      script.append("client \(client.number): the clock jumps ahead, and marked moods are deleted")
      try client.purge()
    case 41..<43: partition(client)
    case 43..<50:
      script.append("client \(client.number): retry")
      client.retries.run()
    default:
      guard network.count > 0 else { return }
      let index = Int.random(in: 0..<network.count, using: &generator)
      let fate =
        generator.chance(0.5)
        ? .delivered : ChaosNetwork.Fate.allCases.randomElement(using: &generator) ?? .delivered
      script.append(
        network.deliver(at: index, fate, isConfirmed: generator.chance(0.8)))
    }
  }

  /// Separates a client from the network for some minutes, as its retries count them.
  private func partition(_ client: ChaosClient) {
    let duration = TimeInterval(Int.random(in: 60...600, using: &generator))
    script.append("client \(client.number): partition of \(Int(duration)) s")
    var time: TimeInterval = 0
    while time < duration {
      client.settle()
      network.dropMessages(of: client.number)
      client.settle()
      guard let delay = client.retries.run() else { break }
      time += delay
    }
  }

  private func insert(_ client: ChaosClient) throws {
    inserted += 1
    let isRejected = generator.chance(0.1)
    let code: Int16 = generator.chance(0.5) ? 250 : 356
    let number = inserted
    let name = try client.view.performAndWait {
      let mood = client.view.mood(number)
      mood.longitude = isRejected ? ChaosServer.rejectedLongitude : nil
      mood.country = try Country.findOrCreate(for: code, in: client.view)
      try client.view.save()
      return mood.recordName ?? ""
    }
    script.append("client \(client.number): insert \(name.prefix(4)), country \(code)")
    if !isRejected { reference.insert(name) }
  }

  private func delete(_ client: ChaosClient) throws {
    let choice = Int.random(in: 0..<1_000, using: &generator)
    let name: String? = try client.view.performAndWait {
      let moods = try client.view.fetch(Mood.visibleFetchRequest)
      guard !moods.isEmpty else { return nil }
      let mood = moods[choice % moods.count]
      mood.markForRemoteDeletion()
      try client.view.save()
      return mood.recordName
    }
    guard let name else { return }
    script.append("client \(client.number): delete \(name.prefix(4))")
    reference.remove(name)
  }

  /// Delivers all messages without failures, and runs all retries, until nothing happens.
  private func end() throws {
    script.append("the network works")
    for client in clients { client.wake() }
    for _ in 0..<1_000 {
      for client in clients { client.settle() }
      while network.count > 0 {
        script.append(network.deliver(at: 0, .delivered, isConfirmed: true))
        for client in clients { client.settle() }
      }
      let before = network.activity
      for client in clients {
        client.retries.run()
        client.settle()
      }
      if network.activity == before, network.count == 0 { return }
    }
    throw ChaosFailure(description: "the clients never finish")
  }

  /// Returns what differs from the reference.
  private func differences() throws -> [String] {
    var differences: [String] = []
    if Set(network.server.records.keys) != reference {
      differences.append("the server has \(network.server.records.keys.sorted())")
    }
    for client in clients {
      differences += try client.view.performAndWait { try self.differences(of: client) }
    }
    return differences
  }

  private func differences(of client: ChaosClient) throws -> [String] {
    let prefix = "client \(client.number)"
    var differences: [String] = []
    let context = client.view
    let moods = try context.fetch(Mood.visibleFetchRequest)
    if moods.compactMap(\.recordName).sorted() != reference.sorted() {
      let names = Set(moods.compactMap(\.recordName))
      differences.append(
        "\(prefix) has \(moods.count) moods, not \(reference.count): lacks "
          + "\(reference.subtracting(names)), has \(names.subtracting(reference)) in addition")
    }
    let records = network.server.records
    for mood in moods {
      guard let name = mood.recordName, let record = records[name] else { continue }
      var own = RemoteMood(mood)
      own?.creatorID = record.creatorID
      if own != record || mood.remoteIdentifier != name || mood.creatorID != record.creatorID {
        differences.append(
          "\(prefix): \(name.prefix(4)) differs from the server's record: "
            + "\(String(describing: own)), created by \(mood.creatorID ?? "nobody"), \(record)")
      }
    }
    let pending = try Mood.count(in: context) { request in
      request.predicate = NSPredicate(
        format: "markedForDeletionDate == NULL AND "
          + "(remoteIdentifier == NULL OR markedForRemoteDeletion == YES)")
    }
    if pending > 0 { differences.append("\(prefix): \(pending) moods are still to be sent") }
    for country in try Country.fetch(in: context) {
      let count = Int64(country.moods.count)
      if country.numberOfMoods != count || (country.markedForDeletionDate == nil) != (count > 0) {
        differences.append(
          "\(prefix): country \(country.numericISO3166Code) counts \(country.numberOfMoods) of "
            + "\(count) moods, marked: \(country.markedForDeletionDate != nil)")
      }
    }
    for continent in try Continent.fetch(in: context) {
      let count = continent.countries.reduce(Int64(0)) { $0 + $1.numberOfMoods }
      if continent.numberOfMoods != count
        || (continent.markedForDeletionDate == nil) != (count > 0)
      {
        differences.append(
          "\(prefix): continent \(continent.numericISO3166Code) counts "
            + "\(continent.numberOfMoods) of \(count) moods, marked: "
            + "\(continent.markedForDeletionDate != nil)")
      }
    }
    return differences
  }
}

private struct ChaosFailure: Error, CustomStringConvertible {
  let description: String
}
