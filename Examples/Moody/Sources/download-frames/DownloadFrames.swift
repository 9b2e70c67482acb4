import Dispatch
import Foundation
import Moody
import MoodySync
import OpenCoreData
import Synchronization

/// Downloads moods into a list on the main queue, and prints how long the queue was busy at a time.
///
/// Its arguments are the number of moods, 10,000 by default, and the number of moods in a response,
/// 500 by default.
@main
struct DownloadFrames {
  @MainActor
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.compactMap { Int($0) }.filter { $0 > 0 }
    guard numbers.count == arguments.count, numbers.count <= 2 else {
      fail("usage: download-frames [MOODS [MOODS-IN-A-RESPONSE]]", status: 64)
    }
    let count = numbers.first ?? 10_000
    let responseSize = numbers.count == 2 ? numbers[1] : 500
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("DownloadFrames-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try MoodyContainer.make(storeURL: folder.appendingPathComponent("Moody.sqlite"))
    let request = Mood.visibleFetchRequest
    request.fetchBatchSize = 20
    let list = try ListDataSource(
      NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: container.viewContext,
        sectionNameKeyPath: nil, cacheName: nil))
    let remote = ResponsesRemote(count: count, responseSize: responseSize)
    let coordinator = SyncCoordinator(container: container, remote: remote)
    let monitor = FrameMonitor()
    coordinator.applicationDidBecomeActive()
    let start = ContinuousClock.now
    while list.count < count, start.duration(to: .now) < .seconds(300) {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
    }
    let duration = start.duration(to: .now)
    monitor.stop()
    guard list.count == count else {
      // The program ends here, without the deferred removal.
      try? FileManager.default.removeItem(at: folder)
      fail("only \(list.count) of \(count) moods arrived within 300 s", status: 1)
    }
    print("\(list.count) moods in the list after \(duration.milliseconds) ms")
    print(monitor.summary)
    withExtendedLifetime(coordinator) {}
  }

  private static func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("download-frames: \(message)\n".utf8))
    exit(status)
  }
}

/// A monitor that measures how long blocks wait for the main queue, which is how long the queue was
/// busy with something else.
private final class FrameMonitor: Sendable {
  private let waits = Mutex<[Duration]>([])
  private let isStopped = Atomic<Bool>(false)

  init() {
    Thread.detachNewThread { [self] in
      while !isStopped.load(ordering: .relaxed) {
        let start = ContinuousClock.now
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { done.signal() }
        // The program can end before the main queue has run the block.
        guard done.wait(timeout: .now() + 60) == .success else { return }
        waits.withLock { $0.append(start.duration(to: .now)) }
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  var summary: String {
    let late = waits.withLock { waits in waits.filter { $0 > .milliseconds(16) } }.sorted()
    guard let longest = late.last else { return "The main queue was never busy for 16 ms." }
    let total = late.reduce(Duration.zero, +)
    return "The main queue was busy for more than 16 ms \(late.count) times: "
      + "median \(late[late.count / 2].milliseconds) ms, longest \(longest.milliseconds) ms, "
      + "\(total.milliseconds) ms in all"
  }
}

extension Duration {
  fileprivate var milliseconds: Int {
    Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}

/// A remote that has a number of moods, and answers with some of them at a time.
private final class ResponsesRemote: MoodyRemote {
  private let moods: [RemoteMood]
  private let responseSize: Int
  private let confirmed = Mutex(0)
  private let changed = Mutex<(@Sendable () -> Void)?>(nil)

  init(count: Int, responseSize: Int) {
    self.responseSize = responseSize
    moods = (0..<count).map { number in
      RemoteMood(
        id: "mood \(number)", creatorID: "user",
        date: Date(timeIntervalSinceReferenceDate: Double(number) * 60), colors: Data([1, 2, 3]),
        latitude: 1, longitude: 2, countryCode: number.isMultiple(of: 2) ? 250 : 356)
    }
  }

  func setupMoodSubscription(_ changed: @escaping @Sendable () -> Void) {
    self.changed.withLock { $0 = changed }
  }

  func fetchLatestMoods(completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void) {
    completion([], nil)
  }

  func fetchNewMoods(
    completion:
      @escaping @Sendable (
        [RemoteRecordChange<RemoteMood>], RemoteError?, @escaping @Sendable (Bool) -> Void
      ) -> Void
  ) {
    let start = confirmed.withLock { $0 }
    let part = moods.dropFirst(start).prefix(responseSize)
    completion(part.map { .insert($0) }, nil) { [self] isSaved in
      guard isSaved, !part.isEmpty else { return }
      confirmed.withLock { $0 = start + part.count }
      changed.withLock { $0 }?()
    }
  }

  func upload(
    _ moods: [RemoteMood], completion: @escaping @Sendable ([RemoteMood], RemoteError?) -> Void
  ) {
    completion(moods, nil)
  }

  func removeMoods(
    _ ids: [RemoteRecordID],
    completion: @escaping @Sendable ([RemoteRecordID], RemoteError?) -> Void
  ) {
    completion(ids, nil)
  }
}
