import Foundation
import ManagedModel
package import WorkbenchText

/// The lines of a log that's still being written, as they arrive.
///
/// A file is followed across rotation, when another file takes its path, and truncation; a pipe is
/// read until its end. Memory use is that of one line, of which at most `InputLimits.logLine` bytes
/// are kept.
final class LogFollower {
  private static let chunkSize = 1 << 18
  private let path: String
  private var descriptor: Int32
  private let isFile: Bool
  /// The number of bytes read from the current file.
  private var offset: off_t = 0
  /// The bytes of the current file that aren't returned as lines yet.
  private var buffer = LineBuffer()
  private var isBegun = false
  /// Whether a pipe has ended.
  private var isAtEnd = false

  /// Opens a log.
  ///
  /// - Parameter path: The path of a file, or `-` for standard input.
  /// - Throws: `InvalidInputError` if the file doesn't exist, can't be read, or is a log archive.
  init(path: String) throws(InvalidInputError) {
    self.path = path
    if let archive = LogArchive.error(for: path) { throw archive }
    descriptor = try InputFile.open(path)
    var status = stat()
    isFile =
      path != InputFile.standardInput && fstat(descriptor, &status) == 0
      && status.st_mode & S_IFMT == S_IFREG
  }

  deinit {
    if path != InputFile.standardInput { close(descriptor) }
  }

  /// Returns the lines that have arrived, without their terminators, after waiting for some.
  ///
  /// - Parameter milliseconds: How long to wait for the first bytes.
  /// - Returns: The lines; none if none is complete in time, and `nil` at the end of a pipe.
  /// - Throws: `InvalidInputError` if reading fails, or if the log is compressed or in UTF-16.
  func lines(within milliseconds: Int32) throws(InvalidInputError) -> [ArraySlice<UInt8>]? {
    guard !isAtEnd else { return nil }
    if !isFile {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, milliseconds) > 0 else { return [] }
    }
    guard let bytes = try readChunk() else { return [] }
    if !bytes.isEmpty { return try split(bytes) }
    guard isFile else {
      isAtEnd = true
      return rest()
    }
    let ended = try reopen()
    guard let bytes = try readChunk(), !bytes.isEmpty else {
      if ended.isEmpty { poll(nil, 0, milliseconds) }
      return ended
    }
    return ended + (try split(bytes))
  }

  /// Returns the last line if it has no terminator.
  func rest() -> [ArraySlice<UInt8>] {
    buffer.unread.isEmpty ? [] : [buffer.last()]
  }

  /// Returns the next bytes: none at the end, and `nil` if a signal interrupted, or a pipe has none
  /// yet.
  private func readChunk() throws(InvalidInputError) -> [UInt8]? {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: LogFollower.chunkSize) { buffer, count in
      let read = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
      if read < 0 { failure = errno }
      count = max(0, read)
    }
    if failure == EINTR || failure == EAGAIN { return nil }
    if failure != 0 { throw InputFile.error(path, failure) }
    offset += off_t(bytes.count)
    return bytes
  }

  private func split(_ bytes: [UInt8]) throws(InvalidInputError) -> [ArraySlice<UInt8>] {
    if !isBegun {
      isBegun = true
      try check(bytes)
    }
    buffer.add(bytes)
    var lines: [ArraySlice<UInt8>] = []
    while let line = buffer.next() { lines.append(line) }
    buffer.discardExcess()
    return lines
  }

  private func check(_ head: [UInt8]) throws(InvalidInputError) {
    if LogEncoding.isUTF16(head) {
      throw InvalidInputError(
        kind: .unusable, message: "\(InputFile.name(path)) is text in UTF-16",
        nextStep: "convert it: `\(LogEncoding.command) | cdprof log -`")
    }
    let isGzip = head.starts(with: GzipStream.magic)
    guard isGzip || LogCompression.of(head) != nil else { return }
    let command = isGzip ? "gunzip -c" : LogCompression.of(head)?.command ?? ""
    throw InvalidInputError(
      kind: .unusable, message: "\(InputFile.name(path)) is compressed, so it can't be followed",
      nextStep: "decompress it: `\(command) FILE | cdprof log -`")
  }

  /// Starts over if the file was truncated, or opens the file that has replaced it.
  ///
  /// - Returns: The lines of a replaced or truncated file that weren't returned before.
  private func reopen() throws(InvalidInputError) -> [ArraySlice<UInt8>] {
    var (current, named) = (stat(), stat())
    guard fstat(descriptor, &current) == 0 else { return [] }
    var ended: [ArraySlice<UInt8>] = []
    if stat(path, &named) == 0,
      named.st_ino != current.st_ino || named.st_dev != current.st_dev
    {
      // Lines can have been written to the old file after its end was read.
      while let bytes = try readChunk(), !bytes.isEmpty { ended += try split(bytes) }
      // Until the new file can be opened, the old one is followed.
      guard let file = try? InputFile.open(path) else { return ended }
      close(descriptor)
      descriptor = file
    } else if current.st_size < offset {
      lseek(descriptor, 0, SEEK_SET)
    } else {
      return []
    }
    offset = 0
    ended += rest()
    buffer = LineBuffer()
    return ended
  }
}

/// Reads a log that's still being written, and reports what it contains so far.
package final class LiveLog {
  private let path: String
  private let follower: LogFollower
  /// The lines as they arrive, for what's shown.
  private var shown: LogReader
  private var waiting: [ArraySlice<UInt8>] = []
  private var isBinary = false
  private var hasEnded = false
  private var problem: InvalidInputError?

  /// Opens a log.
  ///
  /// - Parameter path: The path of a file, or `-` for standard input.
  /// - Throws: `InvalidInputError` if the file doesn't exist, can't be read, or is a log archive.
  package init(path: String) throws(InvalidInputError) {
    self.path = path
    follower = try LogFollower(path: path)
    shown = LogReader(file: path)
  }

  /// Reads until a pipe ends, or until it's stopped.
  ///
  /// **Cost:** each line is read twice, because wrapped lines are rejoined only after many lines.
  ///
  /// - Parameters:
  ///   - seconds: The time between two updates.
  ///   - isStopped: Returns whether to stop; called about ten times a second.
  ///   - update: Called with the report of the lines so far.
  /// - Returns: The report of the whole log.
  /// - Throws: `InvalidInputError` if reading fails, or if no line is from Core Data.
  package func read(
    every seconds: Double, isStopped: @escaping () -> Bool,
    update: @escaping (LogReport) -> Void
  ) throws(InvalidInputError) -> LogReport {
    var isOver = false
    var next = Date().addingTimeInterval(seconds)
    let report = LogReader.read(of: path) { [self] in
      while waiting.isEmpty {
        guard !isOver else { return nil }
        isOver = isStopped()
        arrive(within: isOver ? 0 : 100, isLast: isOver)
        if problem != nil || hasEnded { isOver = true }
        if !isOver, next.timeIntervalSinceNow <= 0 {
          var current = shown
          update(current.finish())
          next = Date().addingTimeInterval(seconds)
        }
      }
      return waiting.removeLast()
    }
    if let problem { throw problem }
    try LogReader.check(report, isBinary: isBinary)
    return report
  }

  private func arrive(within milliseconds: Int32, isLast: Bool) {
    do {
      let lines = try follower.lines(within: milliseconds)
      hasEnded = lines == nil
      for line in (lines ?? []) + (isLast ? follower.rest() : []) {
        shown.take(line)
        waiting.append(line)
        isBinary = isBinary || line.prefix(4_096).contains(0)
      }
      waiting.reverse()
    } catch {
      problem = error
    }
  }
}
