/// A remote without a server: logs each request and answers it immediately, as if it had succeeded.
///
/// Use it to run the program without a network.
public struct ConsoleRemote: MoodyRemote {
  private let log: @Sendable (String) -> Void

  /// Creates a remote.
  ///
  /// - Parameter log: A closure that receives one line for each request. By default, it prints it.
  public init(log: @escaping @Sendable (String) -> Void = { print($0) }) {
    self.log = log
  }

  /// Logs the request.
  public func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void) {
    log("subscribe to moods")
  }

  /// Logs the request and answers that there are no moods.
  public func fetchLatestMoods(
    completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    log("fetch the latest moods")
    completion([], nil)
  }

  /// Logs the request and answers that there are no changes.
  public func fetchNewMoods(
    completion:
      @escaping @Sendable (
        [RemoteRecordChange<RemoteMood>], RemoteError?, @escaping @Sendable (Bool) -> Void
      ) -> Void
  ) {
    log("fetch new moods")
    completion([], nil) { _ in }
  }

  /// Logs the request and answers with the moods.
  public func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    log("upload \(moods.count) moods")
    completion(moods, nil)
  }

  /// Logs the request and answers with the identifiers.
  public func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void
  ) {
    log("remove \(ids.count) moods")
    completion(ids, nil)
  }
}
