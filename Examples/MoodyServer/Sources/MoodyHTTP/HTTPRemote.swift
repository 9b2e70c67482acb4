import FoundationNetworking
public import MoodySync
public import OpenCoreData
import Synchronization

/// A remote that talks to `moody-server` over HTTP.
///
/// At most two requests run at once, removals first. Requests that fail, time out, or get an answer
/// that can't be read count as failed for now; the sync coordinator repeats them.
public final class HTTPRemote: MoodyRemote {
  private let server: URL
  private let user: String
  private let tokenURL: URL
  private let session: URLSession
  private let token: Mutex<String?>
  private let fetches = Atomic<Int>(0)
  private let changed = Mutex<(@Sendable () -> Void)?>(nil)
  private let loop = OperationLoop(limit: 2, queues: 2)

  /// Creates a remote.
  ///
  /// - Parameters:
  ///   - server: The URL of the server, such as `http://127.0.0.1:8080`.
  ///   - user: The identifier of the user.
  ///   - tokenURL: A file for the token of the changes that are saved, next to the store.
  ///   - timeout: The number of seconds after which a request has failed.
  public init(server: URL, user: String, tokenURL: URL, timeout: TimeInterval = 15) {
    self.server = server
    self.user = user
    self.tokenURL = tokenURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeout
    session = URLSession(configuration: configuration)
    // Without a token, all changes are fetched again.
    token = Mutex(try? String(contentsOf: tokenURL, encoding: .utf8))
  }

  deinit {
    // Canceling a task that ends at the same time crashes URLSession on Linux. The last reference may be released
    // on the session's own queue, which would wait for itself.
    DispatchQueue.global().async { [session] in session.finishTasksAndInvalidate() }
  }

  /// The number of times that all changes of the server were fetched and saved.
  public var completedFetches: Int { fetches.load(ordering: .sequentiallyConsistent) }

  // MARK: Requests

  /// Waits for changes with requests that the server answers when there are any.
  public func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void) {
    self.changed.withLock { $0 = changed }
    wait(after: token.withLock { $0 })
  }

  private func wait(after seen: String?, failures: Int = 0) {
    let query = ["after": seen, "wait": String(RequestLimits.wait)]
    send("GET", "token", query, timeout: RequestLimits.wait + 15) {
      [weak self] (result: Result<TokenResponse, any Error>) in
      guard let self else { return }
      do {
        let response = try result.get()
        if response.token != seen { changed.withLock { $0 }?() }
        wait(after: response.token)
      } catch {
        let next = error is InvalidRequest ? nil : seen
        let delay = min(60, TimeInterval(1 << min(failures, 6)))
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
          self?.wait(after: next, failures: failures + 1)
        }
      }
    }
  }

  /// Fetches the latest moods.
  public func fetchLatestMoods(
    completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    send("GET", "moods") { (result: Result<LatestResponse, any Error>) in
      switch result {
      case .success(let response): completion(response.moods, nil)
      case .failure: completion([], .temporary)
      }
    }
  }

  /// Fetches the changes after the token of those that are saved.
  ///
  /// A token that the server doesn't accept is forgotten, so that the next fetch is of all changes.
  public func fetchNewMoods(
    completion:
      @escaping @Sendable (
        [RemoteRecordChange<RemoteMood>], RemoteError?, @escaping @Sendable (Bool) -> Void
      ) -> Void
  ) {
    send("GET", "changes", ["after": token.withLock { $0 }]) {
      [self] (result: Result<ChangesResponse, any Error>) in
      do {
        let response = try result.get()
        let changes = response.changes.map { change in
          change.mood.map(RemoteRecordChange.insert) ?? .delete(change.id)
        }
        completion(changes, nil) { [self] isSaved in
          if isSaved { confirm(response) }
        }
      } catch {
        if error is InvalidRequest { token.withLock { $0 = nil } }
        completion([], .temporary) { _ in }
      }
    }
  }

  private func confirm(_ response: ChangesResponse) {
    token.withLock { $0 = response.token }
    // If it can't be written, the next program fetches the changes again.
    try? response.token?.write(to: tokenURL, atomically: true, encoding: .utf8)
    if response.isComplete {
      fetches.add(1, ordering: .sequentiallyConsistent)
    } else {
      changed.withLock { $0 }?()
    }
  }

  /// Uploads moods, in several requests if there are many, or large ones.
  public func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    let all = UploadParts(moods)
    inParts(all.parts, rejected: all.rejected, queue: 1) { [self] part, done in
      send("POST", "moods", body: UploadRequest(user: user, moods: part)) {
        (result: Result<UploadResponse, any Error>) in
        switch result {
        case .success(let response): done(response.moods, response.rejected, false)
        case .failure: done([], [], true)
        }
      }
    } completion: {
      completion($0, $1)
    }
  }

  /// Removes moods, in several requests if there are many.
  public func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void
  ) {
    let parts = stride(from: 0, to: ids.count, by: RequestLimits.moods).map {
      Array(ids[$0..<min($0 + RequestLimits.moods, ids.count)])
    }
    inParts(parts, queue: 0) { [self] part, done in
      send("POST", "removals", body: Removals(ids: part)) {
        (result: Result<Removals, any Error>) in
        switch result {
        case .success(let response): done(response.ids, [], false)
        case .failure: done([], [], true)
        }
      }
    } completion: {
      completion($0, $1)
    }
  }

  /// The results of the parts of a request.
  private struct Parts<Item: Sendable>: Sendable {
    var waiting: Int
    var items: [Item] = []
    var rejected: [RemoteRecordID] = []
    var hasFailed = false

    var error: RemoteError? {
      rejected.isEmpty ? (hasFailed ? .temporary : nil) : .permanent(rejected)
    }
  }

  private func inParts<Item: Sendable>(
    _ parts: [[Item]], rejected: [RemoteRecordID] = [], queue: Int,
    send:
      @escaping @Sendable (
        [Item], @escaping @Sendable ([Item], [RemoteRecordID], Bool) -> Void
      ) -> Void,
    completion: @escaping @Sendable ([Item], RemoteError?) -> Void
  ) {
    let start = Parts<Item>(waiting: parts.count, rejected: rejected)
    guard !parts.isEmpty else { return completion([], start.error) }
    let results = SharedParts(start)
    for part in parts {
      loop.add(to: queue) { done in
        send(part) { items, rejected, hasFailed in
          let all = results.value.withLock { results in
            results.waiting -= 1
            results.items += items
            results.rejected += rejected
            results.hasFailed = results.hasFailed || hasFailed
            return results
          }
          if all.waiting == 0 { completion(all.items, all.error) }
          done()
        }
      }
    }
  }

  private final class SharedParts<Item: Sendable>: Sendable {
    let value: Mutex<Parts<Item>>

    init(_ parts: Parts<Item>) { value = Mutex(parts) }
  }

  // MARK: HTTP

  /// An error: the server doesn't accept the request, however often it's repeated.
  private struct InvalidRequest: Error {}

  private func send<Response: Decodable & Sendable>(
    _ method: String, _ path: String, _ query: [String: String?] = [:],
    body: (some Encodable)? = String?.none, timeout: TimeInterval? = nil,
    completion: @escaping @Sendable (Result<Response, any Error>) -> Void
  ) {
    do {
      var components = URLComponents(
        url: server.appendingPathComponent(path), resolvingAgainstBaseURL: false)
      components?.queryItems = query.compactMap { name, value in
        value.map { URLQueryItem(name: name, value: $0) }
      }.sorted { $0.name < $1.name }
      guard let url = components?.url else { throw URLError(.badURL) }
      var request = URLRequest(url: url)
      request.httpMethod = method
      if let timeout { request.timeoutInterval = timeout }
      if let body { request.httpBody = try JSONEncoder().encode(body) }
      session.dataTask(with: request) { data, response, error in
        completion(
          Result {
            let status = (response as? HTTPURLResponse)?.statusCode
            if status == 400 { throw InvalidRequest() }
            guard let data, status == 200 else { throw error ?? URLError(.badServerResponse) }
            return try JSONDecoder().decode(Response.self, from: data)
          })
      }.resume()
    } catch {
      completion(.failure(error))
    }
  }
}
