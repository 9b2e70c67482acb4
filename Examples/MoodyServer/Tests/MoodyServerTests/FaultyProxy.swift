import Foundation
import Glibc
import MoodyTestSupport
import Synchronization

/// A proxy between clients and the server that delays, drops, repeats, reorders, and truncates
/// messages.
///
/// Each connection has a thread of its own, which forwards one request after the other. The fates
/// of the requests follow from the seed and the order in which the requests arrive since it was set.
final class FaultyProxy: Sendable {
  /// What happens to a request.
  enum Fate: CaseIterable {
    /// It's forwarded and answered.
    case delivered
    /// It's forwarded after up to 400 ms, so that later requests overtake it.
    case delayed
    /// It's lost, and the connection ends.
    case dropped
    /// It's forwarded; the answer is lost, and the connection ends.
    case unanswered
    /// The connection ends; the request is forwarded up to 4 seconds later.
    case late
    /// It's forwarded and answered, and forwarded once more up to 4 seconds later.
    case duplicated
    /// It's forwarded; the answer ends in its body.
    ///
    /// An answer that ends in its header makes URLSession on Linux end the process ("Transfer
    /// completed, but there's no response").
    case partial
    /// It's answered with status 500, and not forwarded.
    case failed
    /// It's forwarded, and answered with status 500.
    case failedAfterward
    /// It's forwarded; the connection stays open without an answer for a second.
    case hanging
  }

  /// A fault of the server that runs must find.
  enum Fault {
    /// Removals are answered, but they have no effect.
    case losesRemovals
    /// Uploads are answered, but every second one has no effect.
    case losesUploads
  }

  private struct State {
    var generator = SeededGenerator(seed: 0)
    let fault: Fault?
    var uploads = 0
    var serverPort: UInt16?
    var isFaulty = true
    var partitionEnd = Date.distantPast
    var log: [String] = []
    /// The number of requests that are still to be forwarded, although nothing waits for an answer.
    var lateRequests = 0
  }

  private let state: Mutex<State>
  private let listener: Int32
  /// The port on the loopback interface.
  let port: UInt16

  init(fault: Fault?) throws {
    state = Mutex(State(fault: fault))
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.listener = listener
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard isListening else { throw ChaosFailure(description: "the proxy can't listen") }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread { [self] in serve(connection) }
      }
    }
  }

  /// Stops listening.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Sets what the fates of the next requests follow from.
  func setSeed(_ seed: Int) { state.withLock { $0.generator = SeededGenerator(seed: seed) } }

  /// Sets the server's port, or `nil` if it doesn't run.
  func setServerPort(_ port: UInt16?) { state.withLock { $0.serverPort = port } }

  /// Lets all requests fail for a number of seconds.
  func partition(for seconds: TimeInterval) {
    state.withLock { $0.partitionEnd = Date(timeIntervalSinceNow: seconds) }
  }

  /// Delivers all messages from now on, and those that are late.
  func heal() {
    state.withLock { state in
      state.isFaulty = false
      state.partitionEnd = .distantPast
    }
  }

  /// Whether requests are still to be forwarded, although nothing waits for an answer.
  var hasLateRequests: Bool { state.withLock { $0.lateRequests > 0 } }

  /// The requests and their fates since the last call.
  func takeLog() -> [String] {
    state.withLock { state in
      defer { state.log = [] }
      return state.log
    }
  }

  // MARK: Requests

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    while let request = Self.message(from: connection) {
      guard let (fate, delay) = nextFate(request), forward(request, fate, delay, connection)
      else { return }
    }
  }

  /// Returns the fate of a request and a delay in milliseconds; `nil` in a partition.
  private func nextFate(_ request: Data) -> (Fate, Int)? {
    state.withLock { state in
      guard state.partitionEnd < Date() else { return nil }
      guard state.isFaulty else { return (.delivered, 0) }
      // What changes the server is interesting more often.
      let isChange = request.starts(with: Data("POST".utf8))
      let fate =
        state.generator.chance(isChange ? 0.2 : 0.5)
        ? .delivered : Fate.allCases.randomElement(using: &state.generator) ?? .delivered
      let line = request.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "\r") }
      state.log.append("  \(String(decoding: line.prefix(40), as: UTF8.self)): \(fate)")
      return (fate, Int.random(in: 0..<4_000, using: &state.generator))
    }
  }

  /// Forwards a request, and returns whether the connection goes on.
  private func forward(_ request: Data, _ fate: Fate, _ delay: Int, _ connection: Int32) -> Bool {
    switch fate {
    case .dropped: return false
    case .late:
      forwardLater(request, delay)
      return false
    case .failed: return Self.send(Self.failure, to: connection)
    case .delayed: Self.sleep(delay % 400)
    case .duplicated: forwardLater(request, delay)
    case .delivered, .unanswered, .partial, .failedAfterward, .hanging: break
    }
    guard let answer = answer(to: request) else { return false }
    switch fate {
    case .unanswered: return false
    case .partial:
      let header = Self.headerLength(answer) ?? answer.count
      let count = header + (answer.count - header) * (delay % 100) / 100
      _ = Self.send(answer.prefix(count), to: connection)
      return false
    case .failedAfterward: return Self.send(Self.failure, to: connection)
    case .hanging:
      Self.sleep(1_000)
      return false
    default: return Self.send(answer, to: connection)
    }
  }

  private func forwardLater(_ request: Data, _ delay: Int) {
    state.withLock { $0.lateRequests += 1 }
    Thread.detachNewThread { [self] in
      let end = ContinuousClock.now + .milliseconds(delay)
      while .now < end, state.withLock({ $0.isFaulty }) { Self.sleep(20) }
      _ = answer(to: request)
      state.withLock { $0.lateRequests -= 1 }
    }
  }

  /// Returns the server's answer, or `nil` if there is none.
  private func answer(to request: Data) -> Data? {
    if let answer = faultyAnswer(to: request) { return answer }
    guard let port = state.withLock({ $0.serverPort }) else { return nil }
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(server) }
    var address = Self.loopback(port)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        connect(server, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected, Self.send(request, to: server) else { return nil }
    return Self.message(from: server)
  }

  /// Returns the answer of a server with the fault.
  private func faultyAnswer(to request: Data) -> Data? {
    state.withLock { state in
      guard let fault = state.fault, let header = Self.headerLength(request) else { return nil }
      let body = request.dropFirst(header)
      switch fault {
      case .losesRemovals:
        guard request.starts(with: Data("POST /removals".utf8)) else { return nil }
      case .losesUploads:
        guard request.starts(with: Data("POST /moods".utf8)) else { return nil }
        state.uploads += 1
        guard state.uploads.isMultiple(of: 2) else { return nil }
      }
      // The fields of an upload are the ones that its answer needs, except for the rejected moods.
      let fields = Data(#"{"rejected":[],"#.utf8) + body.dropFirst()
      let status = "HTTP/1.1 200 OK\r\nContent-Length: \(fields.count)\r\n\r\n"
      return Data(status.utf8) + fields
    }
  }

  // MARK: Sockets

  private static let failure = Data(
    "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n".utf8)

  private static func sleep(_ milliseconds: Int) {
    Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Reads a whole request or answer; returns `nil` if the connection ends before.
  private static func message(from connection: Int32) -> Data? {
    var message = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var length: Int?
    while length.map({ message.count < $0 }) ?? true {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      message.append(contentsOf: buffer[..<count])
      if length == nil, let end = headerLength(message) {
        length = end + bodyLength(String(decoding: message[..<end], as: UTF8.self))
      }
    }
    return message
  }

  /// Returns the number of bytes before the body, or `nil` if the header isn't complete.
  private static func headerLength(_ message: Data) -> Int? {
    message.range(of: Data("\r\n\r\n".utf8))?.upperBound
  }

  private static func bodyLength(_ header: String) -> Int {
    for line in header.split(whereSeparator: \.isNewline)
    where line.lowercased().hasPrefix("content-length:") {
      return Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
    }
    return 0
  }

  /// Sends bytes, and returns whether the connection took them all.
  private static func send(_ data: Data, to connection: Int32) -> Bool {
    data.withUnsafeBytes { bytes in
      var sent = 0
      while sent < bytes.count {
        let count = Glibc.send(
          connection, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
          Int32(MSG_NOSIGNAL))
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }
}
