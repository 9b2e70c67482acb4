import MoodySync
import OpenCoreData
import Synchronization

/// A network between clients and the server that keeps messages until the run delivers them, in any
/// order.
final class ChaosNetwork: Sendable {
  /// A message, and the closure that answers it.
  ///
  /// A message whose sender no longer waits has none.
  enum Message: Sendable {
    case upload([RemoteMood], (@Sendable ([RemoteMood], RemoteError?) -> Void)?)
    case removal([RemoteRecordID], (@Sendable ([RemoteRecordID], RemoteError?) -> Void)?)
    case latest(TestRemote.Latest)
    case new(TestRemote.New)
    case push

    /// The same request, to which nothing waits for an answer; `nil` if it has no effect then.
    var unanswered: Message? {
      switch self {
      case .upload(let moods, _): .upload(moods, nil)
      case .removal(let ids, _): .removal(ids, nil)
      case .latest, .new, .push: nil
      }
    }

    /// Answers that the request has failed for now.
    func timeOut() {
      switch self {
      case .upload(_, let answer): answer?([], .temporary)
      case .removal(_, let answer): answer?([], .temporary)
      case .latest(let answer): answer([], .temporary)
      case .new(let answer): answer([], .temporary) { _ in }
      case .push: break
      }
    }
  }

  /// What happens to a message.
  enum Fate: CaseIterable {
    /// It's delivered and answered.
    case delivered
    /// It's lost; the sender's request times out.
    case dropped
    /// It's delivered; the answer is lost, and the sender's request times out.
    case unanswered
    /// The sender's request times out; the message is delivered later.
    case late
    /// It's delivered, and once more later.
    case duplicated
    /// It's delivered, and answered in part.
    case partial
  }

  private struct State {
    var server: ChaosServer
    var messages: [(client: Int, message: Message)] = []
    var tokens: [Int: Int] = [:]
    var pushes: [Int: @Sendable () -> Void] = [:]
    var activity = 0
  }

  private let state: Mutex<State>

  init(server: ChaosServer = ChaosServer()) { state = Mutex(State(server: server)) }

  var server: ChaosServer { state.withLock { $0.server } }
  var count: Int { state.withLock { $0.messages.count } }
  /// The number of messages sent so far.
  var activity: Int { state.withLock { $0.activity } }

  func send(_ message: Message, from client: Int) {
    state.withLock {
      $0.messages.append((client, message))
      $0.activity += 1
    }
  }

  func subscribe(_ client: Int, _ changed: @escaping @Sendable () -> Void) {
    state.withLock { $0.pushes[client] = changed }
  }

  /// Lets a client's process end: nothing waits for the answers to its requests.
  func disconnect(_ client: Int) {
    state.withLock { state in
      state.pushes[client] = nil
      state.messages = state.messages.compactMap { sender, message in
        sender == client ? message.unanswered.map { (sender, $0) } : (sender, message)
      }
    }
  }

  /// Loses all messages from and to a client, whose requests time out.
  func dropMessages(of client: Int) {
    let dropped = state.withLock { state in
      defer { state.messages.removeAll { $0.client == client } }
      return state.messages.filter { $0.client == client }
    }
    for (_, message) in dropped { message.timeOut() }
  }

  /// Delivers the message at an index with a fate.
  ///
  /// - Parameter isConfirmed: Whether a client can store the token of the changes it has saved.
  /// - Returns: A description of the message.
  func deliver(at index: Int, _ fate: Fate, isConfirmed: Bool) -> String {
    let (client, message) = state.withLock { $0.messages.remove(at: index) }
    switch fate {
    case .dropped: message.timeOut()
    case .late:
      message.timeOut()
      message.unanswered.map { send($0, from: client) }
    case .duplicated:
      message.unanswered.map { send($0, from: client) }
      execute(message, from: client, fate, isConfirmed)
    case .delivered, .unanswered, .partial: execute(message, from: client, fate, isConfirmed)
    }
    return "client \(client): \(Self.name(of: message)) \(fate)"
  }

  private static func name(of message: Message) -> String {
    switch message {
    case .upload(let moods, _): "upload of \(moods.map { $0.id.prefix(4) })"
    case .removal(let ids, _): "removal of \(ids.map { $0.prefix(4) })"
    case .latest: "fetch of the latest"
    case .new: "fetch of changes"
    case .push: "push"
    }
  }

  private func execute(
    _ message: Message, from client: Int, _ fate: Fate, _ isConfirmed: Bool
  ) {
    let token = state.withLock { $0.server.token }
    switch message {
    case .upload(let moods, let answer):
      let result = state.withLock { $0.server.upload(moods, by: "user \(client)") }
      pushChanges(since: token)
      guard fate != .unanswered else { return message.timeOut() }
      let stored = fate == .partial ? Array(result.stored.dropFirst()) : result.stored
      answer?(stored, result.rejected.isEmpty ? nil : .permanent(result.rejected))
    case .removal(let ids, let answer):
      state.withLock { $0.server.remove(ids) }
      pushChanges(since: token)
      guard fate != .unanswered else { return message.timeOut() }
      answer?(fate == .partial ? Array(ids.dropFirst()) : ids, nil)
    case .latest(let answer):
      guard fate != .unanswered else { return message.timeOut() }
      answer(Array(server.records.values), nil)
    case .new(let answer):
      guard fate != .unanswered else { return message.timeOut() }
      answerNew(answer, to: client, limit: fate == .partial ? 1 : .max, isConfirmed)
    case .push:
      state.withLock { $0.pushes[client] }?()
    }
  }

  private func answerNew(
    _ answer: TestRemote.New, to client: Int, limit: Int, _ isConfirmed: Bool
  ) {
    let (changes, token) = state.withLock { state in
      state.server.changes(after: state.tokens[client] ?? 0, limit: limit)
    }
    // There's more.
    if token < server.token { send(.push, from: client) }
    answer(changes, nil) { [self] isSaved in
      guard isSaved, isConfirmed else { return }
      state.withLock { $0.tokens[client] = max($0.tokens[client] ?? 0, token) }
    }
  }

  private func pushChanges(since token: Int) {
    guard server.token > token else { return }
    for client in state.withLock({ $0.pushes.keys.sorted() }) { send(.push, from: client) }
  }
}

/// The remote of one client.
struct ChaosRemote: MoodyRemote {
  let client: Int
  let network: ChaosNetwork

  func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void) {
    network.subscribe(client, changed)
  }

  func fetchLatestMoods(completion: @escaping TestRemote.Latest) {
    network.send(.latest(completion), from: client)
  }

  func fetchNewMoods(completion: @escaping TestRemote.New) {
    network.send(.new(completion), from: client)
  }

  func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    network.send(.upload(moods, completion), from: client)
  }

  func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void
  ) {
    network.send(.removal(ids, completion), from: client)
  }
}
