import Foundation
import SQLiteDriver
import Synchronization

/// What a step of a migration takes.
///
/// Memory and bytes are those of the whole process; the system counts them. A value that it doesn't
/// count is `nil`.
package struct MigrationCosts: Sendable, Equatable {
  package var seconds = 0.0
  /// The bytes that the process wrote: to the store, its WAL or journal, and temporary files.
  package var bytesWritten: Int?
  /// The memory of the process before.
  package var memoryBefore: Int?
  /// The most memory of the process at once.
  package var peakMemory: Int?
  /// The most memory that SQLite had allocated at once.
  package var peakSQLiteMemory = 0
  /// The most disk space at once in addition to that of the store before, with SQLite's temporary
  /// files.
  ///
  /// Measured every few milliseconds, and before the WAL is checkpointed or the store is replaced.
  package var peakDisk = 0
}

/// Measures what a step of a migration takes.
final class MigrationMeter: Sendable {
  private let folder: String
  private let before: Int
  private let begin = ContinuousClock.now
  private let written: Int?
  private let memoryBefore: Int?
  private let resetsPeak: Bool
  private let peakDisk: Mutex<Int>
  private let isStopped = Atomic<Bool>(false)
  private let ended = DispatchSemaphore(value: 0)

  private static let pause = 0.002

  /// Begins to measure.
  ///
  /// - Parameter folder: The folder of the store, with no other files.
  init(watching folder: URL) {
    self.folder = folder.path
    before = Self.size(of: folder.path)
    peakDisk = Mutex(before)
    SQLiteMemory.resetPeak()
    // 5 sets the peak of the resident set to its current size.
    resetsPeak = Self.write("5", to: "/proc/self/clear_refs")
    memoryBefore = Self.number("VmRSS:", in: "/proc/self/status").map { $0 * 1_024 }
    written = Self.number("wchar:", in: "/proc/self/io")
    Thread.detachNewThread { self.watch() }
  }

  /// Measures the disk space now.
  func sample() {
    let size = Self.size(of: folder) + Self.temporarySize()
    peakDisk.withLock { $0 = max($0, size) }
  }

  /// Ends the measurement, and returns what was measured.
  func stop() -> MigrationCosts {
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    let end = Self.number("wchar:", in: "/proc/self/io")
    isStopped.store(true, ordering: .relaxed)
    ended.wait()
    sample()
    let peak = Self.number("VmHWM:", in: "/proc/self/status").map { $0 * 1_024 }
    return MigrationCosts(
      seconds: seconds,
      bytesWritten: end.flatMap { end in written.map { end - $0 } },
      memoryBefore: memoryBefore, peakMemory: resetsPeak ? peak : nil,
      peakSQLiteMemory: SQLiteMemory.peak, peakDisk: max(0, peakDisk.withLock { $0 } - before))
  }

  private func watch() {
    while !isStopped.load(ordering: .relaxed) {
      let start = ContinuousClock.now
      sample()
      // A folder with many files takes long to list; the migration is to have the processor.
      let took = (ContinuousClock.now - start) / .seconds(1)
      Thread.sleep(forTimeInterval: max(Self.pause, 20 * took))
    }
    ended.signal()
  }

  // MARK: What the system counts

  private static func size(of folder: String) -> Int {
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    return names.reduce(0) { $0 + fileSize("\(folder)/\($1)") }
  }

  /// Returns the size of SQLite's temporary files, which have no names.
  private static func temporarySize() -> Int {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return files.reduce(0) { total, file in
      let path = "/proc/self/fd/\(file)"
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
        target.contains("etilqs_")
      else { return total }
      return total + fileSize(path)
    }
  }

  private static func fileSize(_ path: String) -> Int {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
    return Int(status.st_size)
  }

  private static func number(_ name: String, in path: String) -> Int? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    return lines.first { $0.hasPrefix(name) }.flatMap { line in
      Int(line.dropFirst(name.count).trimmingCharacters(in: .letters.union(.whitespaces)))
    }
  }

  private static func write(_ text: String, to path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    let bytes = Array(text.utf8)
    return Foundation.write(file, bytes, bytes.count) == bytes.count
  }
}
