import Moody
import MoodyHTTP
import MoodySync
import OpenCoreData

/// The moods of this machine, which are synchronized with a server as long as this object exists.
final class Client: Sendable {
  private let context: NSManagedObjectContext
  private let remote: HTTPRemote
  private let coordinator: SyncCoordinator
  private let wait: TimeInterval

  init(storeURL: URL, server: URL, wait: TimeInterval) throws {
    let container = try MoodyContainer.make(storeURL: storeURL)
    // A program without a user interface has no main queue to wait on.
    context = container.newBackgroundContext()
    remote = HTTPRemote(
      server: server, user: NSUserName(), tokenURL: storeURL.appendingPathExtension("token"))
    coordinator = SyncCoordinator(
      viewContext: context, syncContext: container.newBackgroundContext(), remote: remote,
      changeProcessors: [MoodUploader(), MoodDownloader(), MoodRemover()])
    self.wait = wait
    coordinator.applicationDidBecomeActive()
  }

  /// Changes and saves objects.
  func change(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> Void) async throws {
    try await context.perform { [context] in
      try body(context)
      try context.save()
    }
  }

  /// The visible moods, one line for each.
  func lines() async throws -> [String] {
    try await context.perform { [context] in
      try context.fetch(Mood.visibleFetchRequest).map { mood in
        let colors = mood.colors.map { String(format: "%02x", $0) }.joined()
        let country = mood.country?.localizedName(in: .current) ?? "–"
        // Moods of earlier versions have no record name. A server may send any identifier.
        let id = (mood.recordName ?? mood.remoteIdentifier ?? "").prefix(8)
          .map { $0.isLetter || $0.isNumber || $0.isPunctuation || $0.isSymbol ? $0 : "?" }
        return "\(String(id))  "
          + "\(mood.date.formatted(.iso8601))  \(colors)  \(country)"
          + (mood.remoteIdentifier == nil ? "  (not sent)" : "")
      }
    }
  }

  /// Waits until nothing is left to send; returns whether that's so.
  func waitUntilSent() async throws -> Bool {
    try await wait { [context] in
      try await context.perform { [context] in
        try Mood.count(in: context) { request in
          request.predicate = NSPredicate(
            format: "%K == NULL AND (%K == NULL OR %K == YES)", Mood.deletionDateKey,
            Mood.remoteIdentifierKey, Mood.remoteDeletionKey)
        } == 0
      }
    }
  }

  /// Waits until the server's changes are fetched; returns whether that's so.
  func waitUntilFetched() async throws -> Bool {
    try await wait { [remote] in remote.completedFetches > 0 }
  }

  private func wait(until condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(wait)
    while try await !condition() {
      guard .now < end else { return false }
      try await Task.sleep(for: .milliseconds(20))
    }
    return true
  }

  /// A sequence that has an element at once and after each change of the moods.
  func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observation = Observation(
      of: .NSManagedObjectContextObjectsDidChange, from: context
    ) { _ in continuation.yield() }
    continuation.onTermination = { _ in _ = observation }
    continuation.yield()
    return stream
  }
}
