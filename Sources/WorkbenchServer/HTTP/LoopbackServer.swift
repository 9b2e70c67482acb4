import FlyingSocks
import Foundation
import Synchronization
import WorkbenchText

/// What answers the requests of a server.
protocol LoopbackHandler: Sendable {
  /// Returns the response to a request that must not go on, before its body is read.
  func refusal(of head: HTTPRequestHead) -> HTTPResponse?
  /// Returns the response to a request.
  func response(to request: HTTPRequest) async -> HTTPResponse
}

/// An HTTP server on the loopback address of this machine.
///
/// A connection carries one request. All connections share a few threads, so a slow client delays
/// none of the others; it's disconnected after `InputLimits.requestTime`. The server reads requests
/// itself, because FlyingFox's server has no limits for headers, connections, and slow clients.
final class LoopbackServer: Sendable {
  /// The only address that the server listens on.
  static let address = "127.0.0.1"

  private let socket: Socket
  private let connections = ConnectionCount()
  /// The port that the server listens on.
  let port: UInt16

  /// Listens on a port of the loopback address; 0 stands for any that's free.
  ///
  /// - Throws: A `SocketError` if the port can't be used.
  init(port: UInt16) throws {
    socket = try Socket(domain: Int32(sockaddr_in.family))
    do {
      try socket.setValue(true, for: .localAddressReuse)
      try socket.bind(to: sockaddr_in.inet(ip4: LoopbackServer.address, port: port))
      try socket.listen()
      LoopbackServer.closeInChildren(socket)
      guard case .ip4(_, let port) = try socket.sockname() else {
        throw SocketError.unsupportedAddress
      }
      self.port = port
    } catch {
      try? socket.close()
      throw error
    }
  }

  /// Answers requests until the task is canceled, then closes all connections.
  ///
  /// - Throws: An error if the system can't wait for sockets.
  func run(_ handler: some LoopbackHandler) async throws {
    defer { try? socket.close() }
    let pool = SocketPool.make()
    try await pool.prepare()
    let listening = try AsyncSocket(socket: socket, pool: pool)
    await withDiscardingTaskGroup { group in
      group.addTask { try? await pool.run() }
      while !Task.isCancelled {
        guard let connection = try? await listening.accept() else {
          // Such as without a free descriptor; connections end after a while.
          try? await Task.sleep(for: .milliseconds(50))
          continue
        }
        LoopbackServer.closeInChildren(connection.socket)
        guard connections.begin() else {
          try? connection.close()
          continue
        }
        group.addTask { [connections] in
          await LoopbackServer.serve(connection, handler)
          try? connection.close()
          connections.end()
        }
      }
      group.cancelAll()
    }
  }

  private static func serve(_ connection: AsyncSocket, _ handler: some LoopbackHandler) async {
    let time = Duration.seconds(InputLimits.requestTime)
    let request: HTTPRequest
    do {
      request = try await within(time) {
        var reading = HTTPReader(connection)
        let head = try await reading.head()
        if let refusal = handler.refusal(of: head) { throw HTTPReader.Refusal(response: refusal) }
        return HTTPRequest(head: head, body: try await reading.body(of: head))
      }
    } catch let refusal as HTTPReader.Refusal {
      try? await within(time) { try await connection.write(refusal.response.data) }
      shutdown(connection.socket.file.rawValue, Int32(SHUT_WR))
      try? await within(.seconds(2)) {
        var rest = HTTPReader(connection)
        try await rest.discardRest()
      }
      return
    } catch is TimeLimitError {
      let late = HTTPResponse.text("The request took too long.\n", .timeout)
      try? await within(.seconds(1)) { try await connection.write(late.data) }
      return
    } catch {
      return
    }
    let response = await handler.response(to: request)
    try? await within(time) { try await connection.write(response.data) }
  }

  /// Closes a socket in programs that this one starts.
  private static func closeInChildren(_ socket: Socket) {
    _ = fcntl(socket.file.rawValue, F_SETFD, FD_CLOEXEC)
  }
}

/// The number of open connections.
private final class ConnectionCount: Sendable {
  private let count = Mutex(0)

  /// Counts a connection, and returns whether it can be served.
  func begin() -> Bool {
    count.withLock { count in
      guard count < InputLimits.connections else { return false }
      count += 1
      return true
    }
  }

  func end() { count.withLock { $0 -= 1 } }
}

/// An error for work that took too long.
struct TimeLimitError: Error {}

/// Runs a closure, which is canceled after a time.
///
/// - Throws: A `TimeLimitError` after that time; the closure's error.
func within<Value: Sendable>(
  _ time: Duration, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: time)
      throw TimeLimitError()
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() else { throw CancellationError() }
    return value
  }
}
