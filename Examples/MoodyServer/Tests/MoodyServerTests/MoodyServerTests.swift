import FoundationNetworking
import Moody
import MoodyHTTP
import MoodySync
import MoodyTestSupport
import OpenCoreData
import Testing

@testable import MoodyServer

/// A running service, with its own store, on a port that the system has chosen.
private final class RunningServer: Sendable {
  let url: URL
  private let service: MoodService
  private let task: Task<Void, any Error>

  init(_ storeURL: URL, port: UInt16 = 0) async throws {
    let service = try MoodService(store: try MoodStore(storeURL: storeURL), port: port)
    self.service = service
    task = Task { try await service.run() }
    url = try await service.url()
  }

  func stop() async {
    await service.stop()
    task.cancel()
  }
}

/// A client with its own store.
private final class TestClient: Sendable {
  let view: NSManagedObjectContext
  let coordinator: SyncCoordinator

  init(_ storeURL: URL, server: URL) throws {
    let container = try MoodyContainer.make(storeURL: storeURL)
    view = container.newBackgroundContext()
    coordinator = SyncCoordinator(
      viewContext: view, syncContext: container.newBackgroundContext(),
      remote: HTTPRemote(
        server: server, user: storeURL.lastPathComponent,
        tokenURL: storeURL.appendingPathExtension("token"), timeout: 2),
      changeProcessors: [MoodUploader(), MoodDownloader(), MoodRemover()],
      schedule: { _, block in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05, execute: block)
      })
    coordinator.applicationDidBecomeActive()
  }

  func add(_ count: Int = 1) async throws {
    try await view.perform { [view] in
      for number in 0..<count {
        let mood: Mood = view.insertObject()
        mood.date = Date(timeIntervalSinceReferenceDate: Double(number))
        mood.colors = Data([1, 2, 3])
        mood.country = try Country.findOrCreate(for: 250, in: view)
      }
      try view.save()
    }
  }

  func deleteFirst() async throws {
    try await view.perform { [view] in
      let request = Mood.visibleFetchRequest
      request.fetchLimit = 1
      try view.fetch(request).first?.markForRemoteDeletion()
      try view.save()
    }
  }

  /// The identifiers of the visible moods that the server has.
  func moods() async throws -> Set<String> {
    try await view.perform { [view] in
      Set(try view.fetch(Mood.visibleFetchRequest).compactMap(\.remoteIdentifier))
    }
  }
}

/// Waits until a condition is met; fails after ten seconds.
private func eventually(
  _ what: Comment, at place: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async throws {
  for _ in 0..<500 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(20))
  }
  Issue.record(what, sourceLocation: place)
}

@Suite("Clients and a server over the loopback interface", .timeLimit(.minutes(1)), .serialized)
struct MoodyServerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("MoodyServerTests") }

  private func file(_ name: String) -> URL { folder.file(name) }

  @Test("What one client adds or deletes, the other shows")
  func clientsShowTheSameMoods() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let first = try TestClient(file("first.sqlite"), server: server.url)
    let second = try TestClient(file("second.sqlite"), server: server.url)
    try await first.add(3)
    try await eventually("the second client has the moods") { try await second.moods().count == 3 }
    try await second.deleteFirst()
    try await eventually("the first client has deleted one") {
      try await first.moods().count == 2
    }
    #expect(try await first.moods() == second.moods())
    await server.stop()
  }

  @Test("More moods than fit into a request are sent in several, and arrive in several")
  func manyMoodsAreSent() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let first = try TestClient(file("first.sqlite"), server: server.url)
    try await first.add(1_200)
    try await eventually("all are sent") { try await first.moods().count == 1_200 }
    let second = try TestClient(file("second.sqlite"), server: server.url)
    try await eventually("all have arrived") { try await second.moods().count == 1_200 }
    await server.stop()
  }

  @Test("A server that was away gets what clients did meanwhile")
  func serverThatWasAwayGetsTheChanges() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let first = try TestClient(file("first.sqlite"), server: server.url)
    try await first.add()
    try await eventually("the mood is sent") { try await first.moods().count == 1 }
    await server.stop()
    try await first.add()
    try await first.deleteFirst()
    let port = try #require(server.url.port.flatMap(UInt16.init(exactly:)))
    let again = try await RunningServer(file("server.sqlite"), port: port)
    let second = try TestClient(file("second.sqlite"), server: again.url)
    try await eventually("both clients have the other mood") {
      let moods = try await (first.moods(), second.moods())
      return moods.0.count == 1 && moods.0 == moods.1
    }
    await again.stop()
  }

  @Test("The store answers repeated requests as it did the first time")
  func requestsCanBeRepeated() async throws {
    let store = try MoodStore(storeURL: file("server.sqlite"))
    let mood = RemoteMood(id: "a", date: Date(), colors: Data([1, 2, 3]))
    var invalid = mood
    invalid.id = "b"
    invalid.latitude = 91
    for _ in 0..<2 {
      let response = try await store.upload([mood, mood, invalid], by: "user")
      #expect(response.moods.map(\.creatorID) == ["user", "user"])
      #expect(response.rejected == ["b"])
    }
    let all = try await store.changes(after: nil, limit: 10)
    #expect(all.changes.map(\.id) == ["a"] && all.isComplete)
    #expect(try store.currentToken(seen: all.token) == all.token)
    for _ in 0..<2 { #expect(try await store.remove(["a", "late"]).ids == ["a", "late"]) }
    let later = try await store.changes(after: all.token, limit: 10)
    #expect(later.changes.map(\.id).sorted() == ["a", "late"])
    #expect(later.changes.allSatisfy { $0.mood == nil })
    #expect(try store.currentToken(seen: all.token) != all.token)
    #expect(try await store.changes(after: later.token, limit: 10).changes.isEmpty)
    // An upload that arrives after the removal doesn't bring the mood back.
    var late = mood
    late.id = "late"
    #expect(try await store.upload([mood, late], by: "user").rejected == ["a", "late"])
    #expect(try await store.latest(limit: 10).moods.isEmpty)
  }

  @Test("A client whose token the server doesn't accept fetches all moods")
  func invalidTokenIsForgotten() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let first = try TestClient(file("first.sqlite"), server: server.url)
    try await first.add()
    try await eventually("the mood is sent") { try await first.moods().count == 1 }
    try Data("nonsense".utf8).write(to: file("second.sqlite.token"))
    let second = try TestClient(file("second.sqlite"), server: server.url)
    try await eventually("the second client has the mood") { try await second.moods().count == 1 }
    try await first.add()
    try await eventually("the second client has both moods") {
      try await second.moods().count == 2
    }
    await server.stop()
  }

  @Test("A client whose token has expired fetches all moods")
  func expiredTokenIsForgotten() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let first = try TestClient(file("first.sqlite"), server: server.url)
    try await first.add()
    try await eventually("the mood is sent") { try await first.moods().count == 1 }
    let store = try MoodStore(storeURL: file("server.sqlite"))
    let token = try #require(try store.currentToken(seen: nil))
    try await first.add()
    try await eventually("both moods are sent") { try await first.moods().count == 2 }
    try await deleteHistory()
    await #expect(throws: HistoryToken.Invalid.self) {
      try await store.changes(after: token, limit: 10)
    }
    try Data(token.utf8).write(to: file("second.sqlite.token"))
    let second = try TestClient(file("second.sqlite"), server: server.url)
    try await eventually("the second client has the moods") { try await second.moods().count == 2 }
    try await first.add()
    try await eventually("the second client has the new mood") {
      try await second.moods().count == 3
    }
    await server.stop()
  }

  /// Deletes the history of the server's store, as a program that frees space does.
  private func deleteHistory() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Record.model())
    try coordinator.addPersistentStore(
      type: .sqlite, at: file("server.sqlite"), options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try await context.perform { [context] in
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
    }
  }

  @Test("Large moods are sent in several requests, and one that can't be sent keeps no other back")
  func largeMoodsAreSent() async throws {
    let server = try await RunningServer(file("server.sqlite"))
    let remote = HTTPRemote(server: server.url, user: "user", tokenURL: file("token"))
    func mood(_ id: String, colors: Int, latitude: Double? = nil) -> RemoteMood {
      RemoteMood(id: id, date: Date(), colors: Data(count: colors), latitude: latitude)
    }
    var moods = (0..<400).map { mood("\($0)", colors: 3_000) }
    moods.insert(mood("no number", colors: 3, latitude: .nan), at: 0)
    moods.insert(mood("large", colors: 1_000_000), at: 200)
    let (stored, error) = await withCheckedContinuation { continuation in
      remote.upload(moods) { continuation.resume(returning: ($0, $1)) }
    }
    #expect(stored.count == 400 && error == .permanent(["no number", "large"]))
    await server.stop()
  }

  @Test("Moods that no client could use are rejected, and count as removed")
  func unusableMoodsAreRejected() async throws {
    let store = try MoodStore(storeURL: file("server.sqlite"))
    let ids = ["", "\u{1B}[2J", "é", "e\u{301}", String(repeating: "a", count: 101)]
    var moods = ids.map { RemoteMood(id: $0, date: Date(), colors: Data([1, 2, 3])) }
    // A number of a continent, and no number of a country.
    for code in [10_003, -7] as [Int16] {
      moods.append(
        RemoteMood(id: "\(code)", date: Date(), colors: Data([1, 2, 3]), countryCode: code))
    }
    let response = try await store.upload(moods, by: "user")
    #expect(response.moods.isEmpty && response.rejected == moods.map(\.id))
    #expect(try await store.remove(ids).ids == ids)
    #expect(try await store.changes(after: nil, limit: 10).changes.isEmpty)
  }

  @Test("An answer with changes has few more moods than its limit")
  func changesAreLimited() async throws {
    let store = try MoodStore(storeURL: file("server.sqlite"))
    for request in 0..<3 {
      let moods = (0..<4).map {
        RemoteMood(id: "\(request)-\($0)", date: Date(), colors: Data())
      }
      #expect(try await store.upload(moods, by: "user").moods.count == 4)
    }
    var (sizes, token): ([Int], String?) = ([], nil)
    while sizes.count < 5 {
      let response = try await store.changes(after: token, limit: 5)
      sizes.append(response.changes.count)
      token = response.token
      if response.isComplete { break }
    }
    #expect(sizes == [8, 4])
  }

  @Test(
    "Invalid arguments of the client's commands are errors",
    arguments: [
      ["add", "+12345"], ["add"] + Array(repeating: "888888", count: 1_001), ["delete", ""],
      ["list", "--wait", "nan"], ["list", "--wait", "1e300"],
    ])
  func invalidArgumentsAreErrors(arguments: [String]) async throws {
    let program = try Program(
      "moody", arguments + ["--store", file("moody.sqlite").path], output: file("output"),
      clock: SkewedClock(in: folder.url, name: "client"))
    #expect(try await program.end(within: 60) == 64)
  }

  @Test(
    "Invalid requests get a status, and the server goes on",
    arguments: [
      ("POST", "moods", "nonsense", 400), ("POST", "moods", "", 400),
      ("GET", "changes?after=nonsense", "", 400), ("GET", "token?after=nonsense", "", 400),
      ("GET", "nothing", "", 404), ("GET", "token?wait=nan", "", 200),
      ("GET", "token?wait=-1e300", "", 200),
      ("POST", "removals", String(repeating: " ", count: 1_000_001), 413),
    ])
  func invalidRequestsGetAStatus(
    method: String, path: String, body: String, status: Int
  ) async throws {
    let server = try await RunningServer(file("server.sqlite"))
    var request = URLRequest(url: try #require(URL(string: "\(server.url.absoluteString)/\(path)")))
    request.httpMethod = method
    if method == "POST" { request.httpBody = Data(body.utf8) }
    let (_, response) = try await URLSession.shared.data(for: request)
    #expect((response as? HTTPURLResponse)?.statusCode == status)
    let moods = try #require(URL(string: "\(server.url.absoluteString)/moods"))
    let (data, _) = try await URLSession.shared.data(from: moods)
    #expect(try JSONDecoder().decode(LatestResponse.self, from: data).moods.isEmpty)
    await server.stop()
  }
}
